package main

import (
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/policy"
)

// netActions are the connections that the arguments of curl and wget name, as
// far as a URL stands there. What a redirect or an option adds is decided when
// it runs.
func netActions(subject policy.Subject, call policy.Call) (list []policy.Action) {
	name := path.Base(call.Name)
	if name != "curl" && name != "wget" {
		return nil
	}
	for _, a := range call.Args {
		scheme, _, ok := strings.Cut(a, "://")
		if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
			continue
		}
		u, err := url.Parse(a)
		if err != nil || u.Hostname() == "" {
			continue
		}
		n := policy.Net{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), Method: method(call.Args), Path: path.Clean("/" + u.Path), By: name}
		switch n.Port, _ = strconv.Atoi(u.Port()); {
		case n.Port != 0:
		case n.Scheme == "https":
			n.Port = 443
		default:
			n.Port = 80
		}
		list = append(list, policy.Action{Kind: policy.KindNet, Subject: subject, Net: &n})
	}
	return list
}

// method is the one that the usual options ask for.
func method(args []string) string {
	m := "GET"
	for i, a := range args {
		value, long := strings.CutPrefix(a, "--method=")
		switch {
		case long:
			return strings.ToUpper(value)
		case (a == "-X" || a == "--request") && i+1 < len(args):
			return strings.ToUpper(args[i+1])
		case strings.HasPrefix(a, "-X"):
			return strings.ToUpper(a[2:])
		case a == "-I" || a == "--head" || a == "--spider":
			m = "HEAD"
		case a == "-T" || a == "--upload-file":
			m = "PUT"
		case a == "-d" || a == "-F" || a == "--json" || a == "--form" || strings.HasPrefix(a, "--data") || strings.HasPrefix(a, "--post-"):
			m = "POST"
		}
	}
	return m
}
