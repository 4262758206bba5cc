package wget

import (
	"errors"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// errorPage saves the page of an error where that is wanted.
func (d *download) errorPage() int {
	if d.onError {
		d.save()
	}
	return done
}

func (d *download) lengthText() string {
	kind, _, _ := strings.Cut(d.header("Content-Type"), ";")
	if kind != "" {
		kind = " [" + strings.TrimSpace(kind) + "]"
	}
	if n := d.header("Content-Length"); n != "" {
		return n + kind
	}
	return "unspecified" + kind
}

// save writes the body where it goes.
func (d *download) save() (code, again int) {
	d.note("Length: " + d.lengthText() + "\n")
	w, shown := d.out, d.output
	var f *os.File
	if w == nil {
		if name := headerName(d.header("Content-Disposition")); d.byHeader && name != "" {
			if !d.call(name) {
				return 0, done
			}
		}
		if dir := path.Dir(d.name); dir != "." {
			os.MkdirAll(dir, 0o755)
		}
		flag := os.O_TRUNC
		if d.at > 0 {
			flag = os.O_APPEND
		}
		var err error
		if f, err = os.OpenFile(d.name, os.O_WRONLY|os.O_CREATE|flag, 0o644); err != nil {
			d.say(d.name + ": " + applet.Reason(err) + "\n\nCannot write to " + applet.Curly(d.name) + " (" + applet.Reason(err) + ").")
			return exitFile, done
		}
		w, shown = f, d.name
	} else if shown == "-" {
		shown = "STDOUT"
	}
	d.note("Saving to: " + applet.Curly(shown) + "\n\n")
	begun := time.Now()
	n, err := io.Copy(onlyWriter{w}, d.res.Body)
	d.c.Flush()
	if f != nil {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	total := strconv.FormatInt(d.at+n, 10)
	of := total
	if l := d.header("Content-Length"); l != "" && d.at == 0 {
		of = l
	}
	var we *applet.WebError
	switch {
	case errors.As(err, &we) && we.Kind == applet.WebTooLarge:
		d.say(we.Msg + " (raise with --net-limit)")
		return exitNetwork, done
	case errors.As(err, &we):
		d.note(time.Now().Format(stamp) + " - Connection closed at byte " + total + ". ")
		if d.out == nil || d.output != "-" {
			d.at += n // the next try goes on here
		}
		return exitNetwork, retry
	case err != nil:
		d.say("Cannot write to " + applet.Curly(shown) + " (" + applet.Reason(err) + ").")
		return exitFile, done
	}
	if when, err := time.Parse(time.RFC1123, d.header("Last-Modified")); err == nil && f != nil {
		os.Chtimes(d.name, when, when)
	}
	if d.terse {
		d.say(time.Now().Format(stamp) + " URL:" + d.url.String() + " [" + total + "/" + of + "] -> " + `"` + strings.Replace(shown, "STDOUT", "-", 1) + `" [1]`)
	}
	rate := strconv.FormatFloat(float64(n)/1024/max(time.Since(begun).Seconds(), 1e-6), 'f', 0, 64)
	d.note("\n" + time.Now().Format(stamp) + " (" + rate + " KB/s) - " + applet.Curly(shown) + " saved [" + total + "/" + of + "]\n\n")
	return 0, done
}

// onlyWriter hides what io.Copy could use to pass by the buffer's errors.
type onlyWriter struct{ io.Writer }

// headerName is the name in a Content-Disposition, without folders.
func headerName(v string) string {
	for _, p := range strings.Split(v, ";") {
		key, name, ok := strings.Cut(strings.TrimSpace(p), "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "filename") {
			name = strings.Trim(strings.TrimSpace(name), `"'`)
			name = name[strings.LastIndexAny(name, `/\`)+1:]
			if name != "" && name != "." && name != ".." {
				return name
			}
		}
	}
	return ""
}
