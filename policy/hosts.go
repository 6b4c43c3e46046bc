package policy

import (
	"net/netip"
	"strconv"
	"strings"
)

// HostRule is an entry of network.allow or network.deny, taken apart.
type HostRule struct {
	Host     string // lower case, without a dot at the end; for an address its one spelling
	Wildcard bool   // the rule is *.Host: names below Host, not Host itself
	Port     int    // 0 is any port
}

const hostHint = `write a name ("api.example.com"), "*.example.com", an address ("10.0.0.1", "2001:db8::1"), each with ":port" if wanted ("[2001:db8::1]:443")`

// ParseHostRule takes an entry of network.allow or network.deny apart.
func ParseHostRule(s string) (HostRule, error) {
	r, bad := findHostRule(s)
	if bad != nil {
		return HostRule{}, bad.fault("parse host rule", s)
	}
	return r, nil
}

// String gives the normal spelling, which parses to the same rule.
func (r HostRule) String() string {
	host := r.Host
	if r.Wildcard {
		host = "*." + host
	}
	switch {
	case r.Port == 0:
		return host
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(r.Port)
}

// Covers reports whether all that o lets through, r lets through too.
func (r HostRule) Covers(o HostRule) bool {
	if r.Port != 0 && r.Port != o.Port {
		return false
	}
	if !r.Wildcard {
		return !o.Wildcard && r.Host == o.Host
	}
	return strings.HasSuffix(o.Host, "."+r.Host) || o.Wildcard && r.Host == o.Host
}

// Matches reports whether the rule covers a name or address, spelled as ParseHostRule
// spells it, and a port.
func (r HostRule) Matches(host string, port int) bool {
	return r.Covers(HostRule{Host: host, Port: port})
}

func hostCovers(below, entry string) bool {
	b, bad := findHostRule(below)
	e, bad2 := findHostRule(entry)
	return bad == nil && bad2 == nil && b.Covers(e)
}

func checkHostRule(s string) (string, *problem) {
	r, bad := findHostRule(s)
	if bad != nil {
		return s, bad
	}
	return r.String(), nil
}

func findHostRule(s string) (HostRule, *problem) {
	switch {
	case s == "":
		return HostRule{}, badf("the host is empty").hinted(hostHint)
	case s == "*" || s == "*.":
		return HostRule{}, badf("%q would allow or deny everything", s).hinted(`set network.mode to "on" or "off" for that`)
	case strings.Contains(s, "://"):
		return HostRule{}, badf("the entry has a scheme").hinted(`leave out "` + s[:strings.Index(s, "://")+3] + `" and any path; the port says which service`)
	case strings.Contains(s, "@"):
		return HostRule{}, badf("the entry has user info").hinted("leave out all up to the @")
	case strings.ContainsAny(s, "/\\?#"):
		return HostRule{}, badf("the entry has a path").hinted("a rule is for a whole host: leave out all from the slash on")
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return HostRule{}, badf("the entry has a blank or a control character").hinted(hostHint)
	}
	host, port, bad := splitPort(s)
	if bad != nil {
		return HostRule{}, bad
	}
	r := HostRule{Port: port}
	r.Host, r.Wildcard, bad = findHost(host)
	return r, bad
}

// splitPort takes ":port" off. An IPv6 address without brackets has no port.
func splitPort(s string) (string, int, *problem) {
	host, port := s, ""
	if rest, ok := strings.CutPrefix(s, "["); ok {
		var tail string
		if host, tail, ok = strings.Cut(rest, "]"); !ok || tail != "" && tail[0] != ':' {
			return "", 0, badf("the brackets do not fit").hinted(hostHint)
		}
		if !strings.Contains(host, ":") {
			return "", 0, badf("only an IPv6 address is put in brackets").hinted(hostHint)
		}
		if tail == "" {
			return host, 0, nil
		}
		port = tail[1:]
	} else if strings.Count(s, ":") == 1 {
		host, port, _ = strings.Cut(s, ":")
	} else {
		return s, 0, nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || port[0] == '0' {
		return "", 0, badf("%q is not a port", port).hinted("a port is a number from 1 to 65535")
	}
	return host, int(n), nil
}

// findHost reads a name, a *.name or an address.
//
// SECURITY: a name whose last label is a number is one that a resolver reads as an
// IPv4 address in an odd spelling (0x7f.1, 2130706433): it is refused, so that no
// rule means another address than it seems to (NET-02).
func findHost(s string) (string, bool, *problem) {
	if strings.Contains(s, ":") {
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" {
			return "", false, badf("%q is not an IPv6 address", s).hinted(hostHint)
		}
		return a.Unmap().String(), false, nil
	}
	name := strings.TrimSuffix(strings.ToLower(s), ".")
	name, wild := strings.CutPrefix(name, "*.")
	labels := strings.Split(name, ".")
	if last := labels[len(labels)-1]; looksNumeric(last) {
		a, err := netip.ParseAddr(name)
		if err != nil || wild {
			return "", false, badf("%q is not an address in its usual spelling", s).hinted("write four numbers from 0 to 255 without zeros in front")
		}
		return a.String(), false, nil
	}
	if len(name) > 253 {
		return "", false, badf("the name is longer than 253 bytes")
	}
	for _, l := range labels {
		if bad := checkLabel(l); bad != nil {
			return "", false, bad
		}
	}
	return name, wild, nil
}

func looksNumeric(label string) bool {
	hex, ok := strings.CutPrefix(label, "0x")
	return allDigits(label) || ok && strings.Trim(hex, "0123456789abcdef") == ""
}

func checkLabel(l string) *problem {
	switch {
	case l == "":
		return badf("the name has an empty part").hinted(hostHint)
	case len(l) > 63:
		return badf("the part %q is longer than 63 bytes", l)
	case strings.Contains(l, "*"):
		return badf("a * may only be the whole first part").hinted(`write "*.example.com"`)
	}
	for _, c := range []byte(l) {
		if c >= 0x80 {
			return badf("the name is not ASCII").hinted("write its punycode form, xn--…")
		}
		if !isLetter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
			return badf("%q may not be in a name", string(c)).hinted(hostHint)
		}
	}
	if l[0] == '-' || l[len(l)-1] == '-' {
		return badf("the part %q starts or ends with a dash", l)
	}
	return nil
}
