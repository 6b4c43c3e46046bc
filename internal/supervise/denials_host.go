package supervise

import (
	"strings"
)

// hostMarks are the words before a host or an address, in lower case, the surest
// first; port is what stands before a port that comes behind it.
var hostMarks = []struct{ before, port string }{
	{"host='", "port="},                     // urllib3: HTTPSConnection(host='pypi.org', port=443)
	{"could not resolve host: ", ""},        // curl, git, cargo
	{"could not resolve hostname ", ""},     // ssh
	{"could not resolve proxy: ", ""},       //
	{"unable to resolve host address ", ""}, // wget
	{"unable to resolve host ", ""},         //
	{"failed to resolve ", ""},              //
	{"failure resolving ", ""},              // apt
	{"could not translate host name ", ""},  // psql
	{"getaddrinfo eai_again ", ""},          // node
	{"getaddrinfo enotfound ", ""},          //
	{"unknownhostexception: ", ""},          // Java
	{"lookup ", ""},                         // Go
	{"failed to connect to ", " port "},     // curl
	{"connect to host ", " port "},          // ssh
	{"couldn't connect to ", ""},            //
	{"connect enetunreach ", ""},            // node
	{"dial tcp ", ""},                       // Go
	{"connecting to ", ""},                  // wget
	{"unix://", ""},                         // docker: a socket of the host
}

// addHost keeps the host that a line could not reach.
func (h *hints) addHost(text, lower string) {
	for _, m := range hostMarks {
		i := strings.Index(lower, m.before)
		if i < 0 {
			continue
		}
		rest := text[i+len(m.before):]
		if m.before == "unix://" {
			if hasAny(lower, "cannot connect", "denied", "failed", "refused", "unreachable", "no such") {
				path := hostToken(rest)
				h.addConnect(path, path != "" && path[0] == '/')
			}
			return
		}
		host := hostToken(rest)
		if m.port != "" && host != "" {
			if j := strings.Index(rest, m.port); j >= 0 && j < len(host)+4 {
				if port := digits(rest[j+len(m.port):]); port != "" {
					host = joinPort(host, port)
				}
			}
		}
		h.addConnect(host, plausible(host))
		return
	}
	// ping: example.com: Temporary failure in name resolution
	for _, phrase := range []string{": temporary failure in name resolution", ": name or service not known"} {
		if i := strings.Index(lower, phrase); i > 0 {
			host := text[strings.LastIndexByte(text[:i], ' ')+1 : i]
			if plausible(host) && strings.ContainsRune(host, '.') {
				h.addConnect(host, true)
				return
			}
		}
	}
	if hasAny(lower, "in name resolution", "service not known", "network is unreachable") {
		h.add(Hint{Operations: []string{"connect"}})
	}
}

func (h *hints) addConnect(host string, ok bool) {
	if ok {
		h.add(Hint{Operations: []string{"connect"}, Subject: host})
	}
}

// hostToken cuts a host, an address with its port, or a path off the text.
func hostToken(s string) string {
	s = strings.TrimLeft(s, "'\"‘`")
	end := strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("'\"’`,;()<>{}", r)
	})
	if end >= 0 {
		s = s[:end]
	}
	return strings.TrimRight(s, ".:")
}

// plausible tells a host from other words.
func plausible(host string) bool {
	if host == "" || len(host) > 260 {
		return false
	}
	for _, r := range host {
		if r < 0x80 && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(".-_:[]%", r)) {
			return false
		}
	}
	return true
}

func digits(s string) string {
	n := 0
	for n < len(s) && n < 5 && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return s[:n]
}

func joinPort(host, port string) string {
	if strings.ContainsRune(host, ':') {
		return "[" + strings.Trim(host, "[]") + "]:" + port
	}
	return host + ":" + port
}
