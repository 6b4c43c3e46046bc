package seatbelt

import (
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// Places that stand for what the launcher makes, when a profile is only judged.
func standIns() map[string]string {
	return map[string]string{
		ParamTmp: "/private/var/qsandbox-run/tmp", ParamRun: "/private/var/qsandbox-run/profile",
		ParamDir: "/private/var/qsandbox-run", ParamTTY: "/dev/ttys999",
	}
}

// Judge answers a query from the profile itself, by our evaluator (POL-14). Both
// readings of the order of rules must allow; the rule is that of the one which
// does not.
func (Backend) Judge(s *spec.Spec, q spec.Query) (spec.Verdict, error) {
	p, err := profile(s)
	if err != nil {
		return spec.Verdict{}, err
	}
	return judge(p.Bind(standIns()), q)
}

func judge(p *sbpl.Profile, q spec.Query) (spec.Verdict, error) {
	var v sbpl.Verdict
	var err error
	for _, r := range requests(q) {
		if v, err = decide(p, r); err != nil || !v.Allowed {
			break
		}
	}
	return verdict(v), err
}

// requests says what a query means in operations. All must be allowed.
func requests(q spec.Query) []sbpl.Request {
	switch q.Op {
	case spec.OpRead:
		return []sbpl.Request{{Op: "file-read-data", Path: q.Path}}
	case spec.OpWrite:
		return []sbpl.Request{{Op: "file-write-create", Path: q.Path}, {Op: "file-write-data", Path: q.Path}}
	case spec.OpExec:
		return []sbpl.Request{{Op: "file-read-data", Path: q.Path}, {Op: "process-exec*", Path: q.Path}}
	}
	if filepath.IsAbs(q.Host) {
		return []sbpl.Request{{Op: "network-outbound", Path: filepath.Clean(q.Host), Proto: "unix"}}
	}
	host, port := q.Host, 0
	if i := strings.LastIndexByte(host, ':'); i >= 0 && (strings.Count(host, ":") == 1 || strings.Contains(host[:i], "]")) {
		port, _ = strconv.Atoi(host[i+1:])
		host = strings.Trim(host[:i], "[]")
	}
	ip, err := netip.ParseAddr(host)
	return []sbpl.Request{{Op: "network-outbound", Proto: "tcp", Port: port, Loopback: host == "localhost" || err == nil && ip.IsLoopback()}}
}

// decide takes the stricter of the two readings.
func decide(p *sbpl.Profile, q sbpl.Request) (v sbpl.Verdict, err error) {
	for _, o := range sbpl.Orders {
		if v, err = p.Decide(q, o); err != nil || !v.Allowed {
			return v, err
		}
	}
	return v, nil
}

func verdict(v sbpl.Verdict) spec.Verdict {
	out := spec.Verdict{Allowed: v.Allowed, Rule: "(deny default)", Origin: "base", Why: "the profile allows nothing that it does not name"}
	if v.Rule != nil {
		text, err := v.Rule.Text()
		if err != nil {
			text = v.Rule.Action.String()
		}
		out.Rule, out.Origin, out.Why = text, v.Rule.Origin, v.Rule.Why
	}
	return out
}
