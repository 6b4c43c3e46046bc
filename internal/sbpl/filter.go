package sbpl

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// filterKind says what a filter looks at.
type filterKind uint8

const (
	byPath    filterKind = iota + 1
	byName               // the name of a service, a setting, a semaphore …
	byWord               // one of a few words
	byAddress            // remote, local
	byOthers             // require-any, require-all, require-not
)

// filters are those that can be judged. The list is closed: a filter that we do
// not know is an error, never taken for "matches" or "does not".
var filters = sync.OnceValue(func() map[string]filterKind {
	return map[string]filterKind{
		"literal": byPath, "subpath": byPath, "prefix": byPath, "regex": byPath, "path": byPath,
		"path-literal": byPath, "path-regex": byPath,
		"home-literal": byPath, "home-subpath": byPath, "home-regex": byPath,

		"global-name": byName, "global-name-prefix": byName, "global-name-regex": byName,
		"local-name": byName, "local-name-prefix": byName, "xpc-service-name": byName, "xpc-service-name-prefix": byName,
		"sysctl-name": byName, "sysctl-name-prefix": byName, "sysctl-name-regex": byName,
		"ipc-posix-name": byName, "ipc-posix-name-prefix": byName, "ipc-posix-name-regex": byName,
		"preference-domain": byName, "preference-domain-prefix": byName, "right-name": byName,
		"iokit-user-client-class": byName, "iokit-registry-entry-class": byName, "iokit-property": byName, "iokit-connection": byName,
		"extension": byName, "extension-class": byName, "info-type": byName, "kext-bundle-id": byName, "appleevent-destination": byName,

		"target": byWord, "vnode-type": byWord, "socket-domain": byWord, "socket-type": byWord,
		"privilege-id": byWord, "notification-name": byName,

		"remote": byAddress, "local": byAddress,
		"require-any": byOthers, "require-all": byOthers, "require-not": byOthers,
	}
})

func validUTF8(s string) bool { return utf8.ValidString(s) }

// compile checks a filter and prepares its expressions.
func (f *Filter) compile(line int) error {
	kind, ok := filters()[f.Name]
	switch {
	case !ok:
		return badf(line, "the filter %q is not supported", f.Name)
	case kind == byOthers && (len(f.Sub) == 0 || len(f.Values) > 0):
		return badf(line, "%s needs filters", f.Name)
	case f.Name == "require-not" && len(f.Sub) != 1:
		return badf(line, "require-not needs one filter")
	case kind == byAddress:
		return f.checkAddress(line)
	case kind != byOthers && len(f.Values) == 0:
		return badf(line, "%s needs a value", f.Name)
	}
	f.res = nil
	if strings.HasSuffix(f.Name, "regex") {
		for _, v := range f.Values {
			re, err := compileRegex(v)
			if err != nil {
				return badf(line, "regex %q: %v", v, err)
			}
			f.res = append(f.res, re)
		}
	}
	return nil
}

func (f *Filter) checkAddress(line int) error {
	if len(f.Values) == 0 {
		return badf(line, "%s needs a protocol", f.Name)
	}
	proto := strings.TrimRight(f.Values[0], "46")
	switch {
	case f.Values[0] == "unix-socket" || f.Values[0] == "unix":
		if len(f.Values) > 1 {
			f.Sub = append(f.Sub, Literal(f.Values[1:]...))
			f.Values = f.Values[:1]
		}
		return nil
	case proto != "ip" && proto != "tcp" && proto != "udp":
		return badf(line, "the protocol %q is not supported", f.Values[0])
	case len(f.Sub) > 0:
		return badf(line, "%s %s takes an address", f.Name, proto)
	}
	for _, a := range f.Values[1:] {
		host, port, ok := cutLast(a)
		if _, err := strconv.ParseUint(port, 10, 16); !ok || host != "*" && host != "localhost" || port != "*" && err != nil {
			return badf(line, `the address %q is not supported: it is "*" or "localhost", a colon, and "*" or a port`, a)
		}
	}
	return nil
}

func cutLast(a string) (host, port string, ok bool) {
	i := strings.LastIndexByte(a, ':')
	if i < 0 {
		return "", "", false
	}
	return a[:i], a[i+1:], true
}

// matches tells whether a filter holds for a request.
func (f *Filter) matches(q *Request) bool {
	switch filters()[f.Name] {
	case byOthers:
		return f.combine(q)
	case byPath:
		return f.onPath(q)
	case byAddress:
		return f.onAddress(q)
	case byWord:
		return slices.ContainsFunc(f.Values, func(v string) bool { return slices.Contains(q.Words[f.Name], v) })
	}
	return q.Name != "" && f.onText(q.Name)
}

func (f *Filter) combine(q *Request) bool {
	for i := range f.Sub {
		switch m := f.Sub[i].matches(q); {
		case f.Name == "require-not":
			return !m
		case f.Name == "require-any" && m:
			return true
		case f.Name == "require-all" && !m:
			return false
		}
	}
	return f.Name == "require-all"
}

func (f *Filter) onPath(q *Request) bool { return q.Path != "" && f.onText(q.Path) }

// onText matches a path or a name by the ending of the filter's own name.
func (f *Filter) onText(s string) bool {
	for i, v := range f.Values {
		var hit bool
		switch {
		case f.res != nil:
			hit = f.res[i].match(s)
		case strings.HasSuffix(f.Name, "subpath"):
			hit = within(v, s)
		case strings.HasSuffix(f.Name, "prefix"):
			hit = strings.HasPrefix(s, v)
		default:
			hit = s == v
		}
		if hit {
			return true
		}
	}
	return false
}

// within tells whether a path is root or lies below it. "/" holds everything; a
// slash at the end of root does not count.
func within(root, p string) bool {
	if len(root) > 1 {
		root = strings.TrimRight(root, "/")
	}
	return root == "/" && path.IsAbs(p) || p == root || strings.HasPrefix(p, root+"/") && root != ""
}

func (f *Filter) onAddress(q *Request) bool {
	want := f.Values[0]
	if strings.HasPrefix(want, "unix") {
		return q.Proto == "unix" && (len(f.Sub) == 0 || slices.ContainsFunc(f.Sub, func(s Filter) bool { return s.matches(q) }))
	}
	want = strings.TrimRight(want, "46")
	if q.Proto != "tcp" && q.Proto != "udp" || want != "ip" && want != q.Proto {
		return false
	}
	if len(f.Values) == 1 {
		return true
	}
	return slices.ContainsFunc(f.Values[1:], func(a string) bool {
		host, port, _ := cutLast(a)
		return (host == "*" || q.Loopback) && (port == "*" || port == strconv.Itoa(q.Port))
	})
}
