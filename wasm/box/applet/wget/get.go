package wget

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

// download is one file being downloaded.
type download struct {
	*state
	url    weburl.URL
	method string
	data   []byte // nil: none
	login  string // user:password
	proved bool   // the login is sent
	name   string // where it goes; "" for -O
	at     int64  // bytes that are there
	local  time.Time
	res    *applet.WebResponse
}

const stamp = "2006-01-02 15:04:05"

// get downloads one URL.
func (s *state) get(raw string, later bool) {
	if later && s.wait > 0 {
		time.Sleep(s.wait)
	}
	u, err := parse(raw)
	if err != nil {
		s.say(raw + ": " + err.Error())
		s.fail(exitGeneric)
		return
	}
	d := &download{state: s, url: u, method: "GET", data: s.data}
	switch {
	case s.method != "":
		d.method = s.method
	case s.spider:
		d.method = "HEAD"
	}
	if s.spider {
		s.note("Spider mode enabled. Check if remote file exists.\n")
	}
	if user := s.user + ":" + s.password; u.Login {
		d.login = u.User + ":" + u.Password
	} else if s.user != "" {
		d.login = user
	}
	d.proved = s.eager
	if !d.place(d.url) {
		return
	}
	s.fail(d.follow())
}

// place chooses the name of the file; false means that nothing is to be done.
func (d *download) place(u weburl.URL) bool {
	if d.out != nil || d.spider {
		if d.resume && d.output != "" && d.output != "-" {
			if fi, err := os.Stat(d.output); err == nil {
				d.at = fi.Size()
			}
		}
		return true
	}
	return d.call(fileName(u))
}

func (d *download) call(name string) bool {
	if d.prefix != "" {
		name = strings.TrimSuffix(d.prefix, "/") + "/" + name
	}
	fi, err := os.Stat(name)
	switch {
	case err != nil:
	case d.keep:
		d.note("File " + applet.Curly(name) + " already there; not retrieving.\n\n")
		return false
	case d.newer:
		d.local = fi.ModTime()
	case d.resume:
		d.at = fi.Size()
	default:
		base := name
		for i := 1; exists(name); i++ {
			name = base + "." + strconv.Itoa(i)
		}
	}
	d.name = name
	return true
}

// fileName is the name that a URL gives to its file.
func fileName(u weburl.URL) string {
	name := weburl.Decode(u.Path[strings.LastIndexByte(u.Path, '/')+1:])
	if name == "" {
		name = "index.html"
	}
	name += u.Query
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if c := name[i]; c == '/' || c < ' ' || c == 0x7f {
			b.WriteString(weburl.Percent(name[i : i+1]))
		} else {
			b.WriteByte(c)
		}
	}
	if name = b.String(); name == "." || name == ".." {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return name
}

// follow makes the requests that lead to the file, and again when they fail
// in a way that may pass.
func (d *download) follow() (code int) {
	first, from := d.url, ""
	hops, tries := 0, 0
	for {
		code, again := d.try(first, from)
		switch {
		case again == redirected:
			next, err := d.url.Follow(d.header("Location"))
			if err != nil {
				d.say(d.header("Location") + ": Unsupported scheme.")
				return exitGeneric
			}
			if hops++; hops > d.redirects {
				d.say(strconv.Itoa(d.redirects) + " redirections exceeded.")
				return exitServer
			}
			if d.res.Status != 307 && d.res.Status != 308 && d.method != "HEAD" {
				d.method, d.data = "GET", nil
			}
			from, d.url = d.url.String(), next
			if d.trust && d.out == nil && !d.spider {
				if !d.call(fileName(next)) {
					return 0
				}
			}
			continue
		case again == done:
			return code
		case again == anew: // once more, with a password or another method
			continue
		}
		if tries++; d.tries > 0 && tries >= d.tries {
			d.say("Giving up.\n")
			return exitNetwork
		}
		d.note("Retrying.\n\n")
		time.Sleep(min(time.Duration(tries)*time.Second, d.waitRetry))
	}
}

// answered treats a response by its status.
func (d *download) answered() (code, again int) {
	status := d.res.Status
	switch {
	case status >= 300 && status < 400 && status != 304 && d.header("Location") != "":
		d.note("Location: " + d.header("Location") + " [following]\n")
		return 0, redirected
	case status == 401 && d.login != "" && !d.proved && strings.HasPrefix(strings.ToLower(d.header("WWW-Authenticate")), "basic"):
		d.proved = true
		d.note("Authentication selected: " + d.header("WWW-Authenticate") + "\nReusing existing connection to " + d.url.Host + ":" + d.url.DialPort() + ".\n")
		return 0, anew
	case status == 401:
		d.note("\nUsername/Password Authentication Failed.\n")
		return exitAuth, d.errorPage()
	case status == 304 && !d.local.IsZero():
		d.note("File " + applet.Curly(d.name) + " not modified on server. Omitting download.\n\n")
		return 0, done
	case status == 416 && d.at > 0:
		d.note("\n    The file is already fully retrieved; nothing to do.\n\n")
		return 0, done
	case d.spider && (status == 405 || status == 501) && d.method == "HEAD":
		d.method = "GET"
		return 0, anew
	case status == 204:
		return 0, done
	case status >= 400 || status < 200 || status >= 300:
		for _, c := range strings.Split(d.retryOn, ",") {
			if c == strconv.Itoa(status) {
				return exitServer, retry
			}
		}
		if d.spider {
			if d.note("Remote file does not exist -- broken link!!!\n\n"); d.terse {
				d.say(d.url.String() + ":\nRemote file does not exist -- broken link!!!")
			}
		} else {
			if d.terse {
				d.say(d.url.String() + ":")
			}
			d.say(time.Now().Format(stamp) + " ERROR " + strconv.Itoa(status) + ": " + d.res.Reason + ".")
			d.note("\n")
		}
		return exitServer, d.errorPage()
	case d.spider:
		if d.note("Length: " + d.lengthText() + "\nRemote file exists.\n\n"); d.terse {
			d.say(time.Now().Format(stamp) + " URL: " + d.url.String() + " " + strconv.Itoa(status) + " " + d.res.Reason)
		}
		return 0, done
	case d.at > 0 && status != 206:
		d.at = 0 // the server sends all of it: begin anew
		if d.name != "" {
			os.Remove(d.name)
		}
	}
	return d.save()
}
