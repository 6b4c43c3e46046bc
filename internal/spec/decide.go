package spec

import (
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// Op is what somebody wants to do.
type Op string

// The operations of explain.
const (
	OpRead    Op = "read"
	OpWrite   Op = "write"
	OpExec    Op = "exec"
	OpConnect Op = "connect"
)

// Query asks about one operation on one target.
type Query struct {
	Op   Op
	Path string // real path, for read, write, exec
	Host string // host or host:port, or the path of a socket, for connect
}

// Verdict answers a Query.
type Verdict struct {
	Allowed bool
	Absent  bool   // not allowed because it is not there at all
	Rule    string // the rule that decided
	Origin  string // where the rule comes from
	Why     string
}

// Decide answers from the spec alone, without looking at the host (POL-14).
func Decide(s *Spec, q Query) Verdict {
	if q.Op == OpConnect {
		return decideConnect(s, q.Host)
	}
	if !s.Isolated() {
		return Verdict{Allowed: true, Rule: "mode permissive", Origin: "mode", Why: "permissive isolates nothing"}
	}
	r, ok := nearest(s, q.Op, q.Path)
	limited := q.Op == OpExec && s.GOOS == "darwin" // what may be read may not all be executed (MAC-01)
	p, later := matchPattern(s, q.Path, r, ok)
	if later && !(s.GOOS == "linux" && q.Op == OpWrite) && !(limited && p.Access == Read) {
		return byAccess(q.Op, Rule{Access: p.Access, Path: p.Glob, Origin: p.Origin}, q.Path)
	}
	if limited && (!ok || r.Access == Read) {
		v, _ := s.mayExec(q.Path)
		return v
	}
	if ok {
		v := byAccess(q.Op, r, q.Path)
		if later && v.Allowed {
			v.Why += "; " + p.Origin + " counts for what is there at the start, and keeps no new name from coming into being"
		}
		return v
	}
	if s.bare() {
		return Verdict{Absent: true, Rule: "mode strict", Origin: "mode", Why: "strict shows only the system directories and the workspace"}
	}
	if q.Op == OpWrite {
		return Verdict{Rule: "/ is read-only", Origin: "mode " + s.Policy.Mode.String(), Why: "only writable paths may be written"}
	}
	return Verdict{Allowed: true, Rule: "/ is readable", Origin: "mode " + s.Policy.Mode.String(), Why: s.Policy.Mode.String() + " shows the whole file system read-only"}
}

// nearest is the most specific rule at or above a path; strict's system
// directories count as the most general ones.
func nearest(s *Spec, op Op, path string) (Rule, bool) {
	best, found := Rule{}, false
	for _, r := range s.Rules {
		if s.covers(r, op, path) && (!found || len(r.Path) > len(best.Path)) {
			best, found = r, true
		}
	}
	for _, r := range s.System {
		if Within(r.Path, path) && (!found || len(r.Path) > len(best.Path)) {
			best, found = r, true
		}
	}
	return best, found
}

// matchPattern answers for names that did not exist when patterns were expanded:
// what a pattern found is a rule, and a rule at or below the place that a pattern
// names is more specific. A name that is not there yet is not shown or made
// read-only by a pattern that gives, and a pattern that only takes writing away
// says nothing where nothing can be written.
func matchPattern(s *Spec, path string, r Rule, ok bool) (best Pattern, hit bool) {
	for p := path; !ok || len(p) > len(r.Path); p = filepath.Dir(p) {
		for _, pt := range s.Patterns {
			counts := pt.Access == Deny || pt.takes && ok && r.Access == Write
			if counts && (!hit || pt.Access < best.Access) && pt.glob.Match(filepath.ToSlash(p)) {
				best, hit = pt, true
			}
		}
		if hit || filepath.Dir(p) == p {
			break
		}
	}
	return best, hit
}

func byAccess(op Op, r Rule, path string) Verdict {
	v := Verdict{Rule: r.Access.String() + " " + r.Path, Origin: r.Origin}
	switch r.Access {
	case Deny:
		v.Why = "hidden"
		v.Absent = r.Empty && r.Path != path
	case Private:
		v.Allowed = op == OpWrite
		v.Absent = !v.Allowed && r.Path != path
		v.Why = "a private place of the sandbox: what the host has there is not visible"
		if r.Path == path {
			v.Allowed = true
		}
	case Read:
		v.Allowed = op != OpWrite
		v.Why = "read-only"
	case Write:
		v.Allowed = true
		v.Why = "writable"
	}
	return v
}

func decideConnect(s *Spec, target string) Verdict {
	if !s.Isolated() {
		return Verdict{Allowed: true, Rule: "mode permissive", Origin: "mode", Why: "the network switch has no effect in permissive"}
	}
	if filepath.IsAbs(target) {
		if r, ok := nearest(s, OpConnect, filepath.Clean(target)); ok {
			v := byAccess(OpRead, r, filepath.Clean(target))
			if r.Kind == Socket || r.Access <= Private {
				return v
			}
		}
		return Verdict{Rule: "sockets of the host are hidden", Origin: "network.unixSockets", Why: "a socket of the host must be listed by path; one that the command makes itself works"}
	}
	host, port := splitPort(target)
	switch s.Policy.Network.Mode {
	case policy.NetworkOn:
		return Verdict{Allowed: true, Rule: "network on", Origin: "network.mode", Why: "the host's network is shared"}
	case policy.NetworkAllow:
		return decideAllow(s, host, port)
	}
	if isLoopback(host) {
		return Verdict{Allowed: true, Rule: "network off", Origin: "network.mode", Why: "the sandbox has a loopback of its own; services of the host are not there"}
	}
	return Verdict{Rule: "network off", Origin: "network.mode", Why: "no network is given"}
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// splitPort takes "host:port" apart; without a port it is 0, which rules with a port do not match.
func splitPort(target string) (string, int) {
	i := strings.LastIndexByte(target, ':')
	if i < 0 || strings.Count(target, ":") > 1 && !strings.Contains(target[:i], "]") {
		return target, 0 // no port: a name, or a bare IPv6 address
	}
	n, err := strconv.Atoi(target[i+1:])
	if err != nil {
		return target, 0
	}
	return strings.Trim(target[:i], "[]"), n
}

func hostMatches(rule, host string, port int) bool {
	r, err := policy.ParseHostRule(rule)
	return err == nil && r.Matches(host, port)
}

func decideAllow(s *Spec, host string, port int) Verdict {
	for _, d := range s.Policy.Network.Deny {
		if hostMatches(d, host, port) {
			return Verdict{Rule: "deny " + d, Origin: "network.deny", Why: "deny wins"}
		}
	}
	for _, a := range s.Policy.Network.Allow {
		if hostMatches(a, host, port) {
			return Verdict{Rule: "allow " + a, Origin: "network.allow", Why: "listed, but this version has no allow-list proxy yet: nothing can be reached"}
		}
	}
	return Verdict{Rule: "not listed", Origin: "network.allow", Why: "only listed names can be reached"}
}
