package heavy_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/egress"
	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/heavy"
)

// web is applet.Web over the dialler itself, without wasm between.
type web struct{ *egress.Egress }

func (w web) Fetch(r applet.WebRequest) (*applet.WebResponse, error) {
	q := sandbox.Request{Method: r.Method, URL: r.URL, From: r.From, Size: r.Size, Connect: r.Connect, Timeout: r.Timeout}
	for i := 0; i < len(r.Header); i += 2 {
		q.Header = append(q.Header, sandbox.HeaderField{Name: r.Header[i], Value: r.Header[i+1]})
	}
	if r.File != nil {
		q.Body = r.File
	}
	if r.Data != nil {
		q.Body, q.Size = bytes.NewReader(r.Data), int64(len(r.Data))
	}
	res, err := w.Do(context.Background(), q, func(context.Context, policy.Net) error { return nil })
	if err != nil {
		return nil, webError(err)
	}
	out := &applet.WebResponse{Proto: res.Proto, Status: res.Status, Reason: res.Reason, Body: webBody{res.Body}, Remote: res.Remote,
		Resolved: res.Times.Resolved, Connected: res.Times.Connected, Secured: res.Times.Secured, Answered: res.Times.Answered}
	for _, f := range res.Header {
		out.Header = append(out.Header, f.Name, f.Value)
	}
	return out, nil
}

func webError(err error) error {
	var ne *sandbox.NetError
	if errors.As(err, &ne) {
		return &applet.WebError{Kind: applet.WebKind(ne.Kind), Msg: ne.Msg}
	}
	return err
}

type webBody struct{ io.ReadCloser }

func (b webBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = webError(err)
	}
	return n, err
}

// site is a server with a page for each thing that clients do.
func site(t testing.TB) *httptest.Server {
	mux := http.NewServeMux()
	page := func(pattern string, f http.HandlerFunc) { mux.HandleFunc(pattern, f) }
	page("/hello", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("X-Two", "1")
		w.Header().Add("X-Two", "2")
		w.Header().Set("Last-Modified", "Tue, 05 Mar 2024 06:07:08 GMT")
		io.WriteString(w, "hello\n")
	})
	boundary := regexp.MustCompile(`-{16,}[0-9a-f]{16}`)
	page("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %v %q\n", r.Method, r.RequestURI, r.ContentLength, r.TransferEncoding)
		var names []string
		for n := range r.Header {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			if n != "Connection" && n != "Expect" && (n != "Content-Length" || r.ContentLength > 0) {
				fmt.Fprintf(w, "%s: %s\n", n, boundary.ReplaceAllString(fmt.Sprint(r.Header[n]), "BOUNDARY"))
			}
		}
		w.Write(boundary.ReplaceAll(body, []byte("BOUNDARY")))
	})
	page("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("code"))
		w.WriteHeader(n)
		if n != 204 && n != 304 {
			fmt.Fprintf(w, "page of %d\n", n)
		}
	})
	page("/to/{code}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("code"))
		w.Header().Set("Location", r.URL.Query().Get("url"))
		w.WriteHeader(n)
		io.WriteString(w, "moved\n")
	})
	page("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", 302) })
	page("/d/rel", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "../d/./x/../end?q=1#f")
		w.WriteHeader(302)
	})
	page("/d/end", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.Method, r.RequestURI) })
	page("/cut", func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := http.NewResponseController(w).Hijack()
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
		c.Close()
	})
	page("/cutchunk", func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := http.NewResponseController(w).Hijack()
		io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n")
		c.Close()
	})
	page("/none", func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := http.NewResponseController(w).Hijack()
		c.Close()
	})
	page("/slow", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "some")
		http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	})
	page("/gzip", func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			io.WriteString(z, "unpacked\n")
			return
		}
		io.WriteString(w, "plain\n")
	})
	page("/badgzip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, "this is not gzip at all")
	})
	page("/auth", func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != "me" || p != "pw" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(401)
			io.WriteString(w, "who?\n")
			return
		}
		io.WriteString(w, "welcome\n")
	})
	page("/set", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1", Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2", Path: "/d", HttpOnly: true, Expires: time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)})
		http.SetCookie(w, &http.Cookie{Name: "other", Value: "3", Domain: "example.com"})
		http.SetCookie(w, &http.Cookie{Name: "secure", Value: "3", Secure: true})
		w.Header().Set("Location", "/echo")
		w.WriteHeader(302)
	})
	page("/name", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="`+r.URL.Query().Get("as")+`"`)
		io.WriteString(w, "named\n")
	})
	page("/file", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "file.txt", time.Date(2024, 3, 5, 6, 7, 8, 0, time.UTC), strings.NewReader("0123456789abcdef\n"))
	})
	page("/form", func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			fmt.Fprintln(w, err)
			return
		}
		for _, k := range slices.Sorted(func(yield func(string) bool) {
			for k := range r.MultipartForm.File {
				if !yield(k) {
					return
				}
			}
		}) {
			for _, f := range r.MultipartForm.File[k] {
				in, _ := f.Open()
				b, _ := io.ReadAll(in)
				fmt.Fprintf(w, "%s %s %s %q\n", k, f.Filename, f.Header, b)
			}
		}
		fmt.Fprintln(w, r.MultipartForm.Value)
	})
	page("/empty", func(http.ResponseWriter, *http.Request) {})
	page("/links", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<a href=/hello>x</a>\n")
	})
	flaky := 0
	page("/flaky", func(w http.ResponseWriter, _ *http.Request) {
		if flaky++; flaky%2 == 1 {
			w.WriteHeader(503)
		}
		fmt.Fprintln(w, flaky%2)
	})
	page("/{$}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "index\n") })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", "Tue, 05 Mar 2024 06:07:08 GMT") // or two answers to the same request may differ
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// ran is what a client did.
type ran struct {
	Out    string
	Status int
	Tree   string
	errs   string
}

// both runs a client's line as the applet and as the host's tool, each in a
// folder with the same files.
func both(t *testing.T, server *httptest.Server, cmd *applet.Command, args []string, stdin string) (box, tool ran) {
	t.Helper()
	tool = in(t, stdin, func(dir string, stdin *os.File) (string, string, int) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		c := exec.CommandContext(ctx, cmd.Name, args...)
		c.Dir, c.Stdin = dir, stdin
		c.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC0"}
		var out, errs bytes.Buffer
		c.Stdout, c.Stderr = &out, &errs
		err := c.Run()
		var ee *exec.ExitError
		if err != nil && !errors.As(err, &ee) {
			t.Fatal(err)
		}
		return out.String(), errs.String(), c.ProcessState.ExitCode()
	})
	return native(t, server, cmd, args, stdin), tool
}

// native runs a client's line as the applet.
func native(t *testing.T, server *httptest.Server, cmd *applet.Command, args []string, stdin string) ran {
	t.Helper()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var rules []egress.Rule
	for _, s := range []string{u.Host, "localhost:" + u.Port(), "127.0.0.1:1"} {
		r, err := egress.ParseRule(s)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	e, err := egress.New(egress.Config{Allow: rules})
	if err != nil {
		t.Fatal(err)
	}
	return in(t, stdin, func(dir string, stdin *os.File) (string, string, int) {
		t.Chdir(dir)
		var out, errs bytes.Buffer
		c := &applet.Ctx{Cmd: cmd, Args: args, Stdin: stdin, Stdout: bufio.NewWriter(&out), Stderr: &errs, Web: web{e}}
		status := applet.Run(c)
		return out.String(), errs.String(), status
	})
}

func in(t *testing.T, stdin string, f func(dir string, stdin *os.File) (string, string, int)) (r ran) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"f.txt": "line 1\nline 2\r\n", "j.json": "{\"a\": 1}\n", "h": "X-From: file\n", "part": "0123", "s/x": "in s\n",
		"urls": "", "jar": "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\told\tv\n"} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() { io.WriteString(pw, stdin); pw.Close() }()
	defer pr.Close()
	r.Out, r.errs, r.Status = f(dir, pr)
	var tree strings.Builder
	filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != ".wget-hsts" {
			b, _ := os.ReadFile(name)
			fmt.Fprintf(&tree, "%s %q\n", strings.TrimPrefix(name, dir+"/"), b)
		}
		return err
	})
	r.Tree = tree.String()
	return r
}

// dates are what differs between two runs.
var dates = regexp.MustCompile(`(Date: )[^\r\n"\\]*`)

func same(a, b ran) bool {
	clean := func(s string) string { return dates.ReplaceAllString(s, "$1") }
	return clean(a.Out) == clean(b.Out) && a.Status == b.Status && clean(a.Tree) == clean(b.Tree)
}

func client(t *testing.T, name, version string) *applet.Command {
	i := slices.IndexFunc(heavy.Commands(), func(c *applet.Command) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no command %s", name)
	}
	out, err := exec.Command(name, "--version").Output()
	if err == nil && !bytes.Contains(out, []byte(version)) {
		err = fmt.Errorf("not version %s", version)
	}
	if err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatalf("%s: %v", name, err)
		}
		t.Skipf("%s: %v", name, err)
	}
	return heavy.Commands()[i]
}

// TestCurl compares curl with curl.
func TestCurl(t *testing.T) {
	cmd, s := client(t, "curl", "curl 7.88.1"), site(t)
	host := strings.TrimPrefix(s.URL, "http://")
	_, port, _ := net.SplitHostPort(host)
	lines := strings.Split(strings.TrimSpace(curlLines), "\n")
	for _, line := range lines {
		line = strings.NewReplacer("HOST", host, "PORT", port).Replace(line)
		args := words(t, line)
		box, tool := both(t, s, cmd, args, "from stdin\n")
		if !same(box, tool) {
			t.Errorf("curl %s\n box %d %q %q\n%s\ntool %d %q %q\n%s", line, box.Status, box.Out, box.errs, diff(box.Tree, tool.Tree), tool.Status, tool.Out, tool.errs, "")
		}
	}
	t.Logf("%d lines", len(lines))
}

// diff shows the files that differ.
func diff(a, b string) string {
	var out strings.Builder
	in := func(lines, l string) bool { return strings.Contains("\n"+lines, "\n"+l) }
	for l := range strings.Lines(a) {
		if !in(b, l) {
			out.WriteString(" box: " + l)
		}
	}
	for l := range strings.Lines(b) {
		if !in(a, l) {
			out.WriteString("tool: " + l)
		}
	}
	return out.String()
}

// words splits a line at spaces; single quotes and $'\n' hold words together.
func words(t *testing.T, line string) (args []string) {
	t.Helper()
	word, any, quoted := "", false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			quoted, any = !quoted, true
		case c == ' ' && !quoted:
			if any {
				args = append(args, word)
			}
			word, any = "", false
		default:
			word, any = word+string(c), true
		}
	}
	if any {
		args = append(args, word)
	}
	return args
}

// TestWget compares wget with GNU wget.
func TestWget(t *testing.T) {
	cmd, s := client(t, "wget", "GNU Wget 1.21"), site(t)
	host := strings.TrimPrefix(s.URL, "http://")
	_, port, _ := net.SplitHostPort(host)
	for line := range strings.Lines(strings.TrimSpace(wgetLines)) {
		line = strings.NewReplacer("HOST", host, "PORT", port).Replace(strings.TrimSpace(line))
		box, tool := both(t, s, cmd, words(t, line), s.URL+"/hello\n")
		box.Tree, tool.Tree = agent.ReplaceAllString(box.Tree, "Wget"), agent.ReplaceAllString(tool.Tree, "Wget")
		box.Out, tool.Out = agent.ReplaceAllString(box.Out, "Wget"), agent.ReplaceAllString(tool.Out, "Wget")
		if !same(box, tool) {
			t.Errorf("wget %s\n box %d %q %q\n%s\ntool %d %q %q", line, box.Status, box.Out, box.errs, diff(box.Tree, tool.Tree), tool.Status, tool.Out, tool.errs)
		}
	}
}

var agent = regexp.MustCompile(`Wget/[0-9.]+|Generated by Wget on [^\\]*`)
