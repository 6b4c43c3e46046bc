package qsandbox

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Operation is what a command may want to do.
type Operation string

// The operations.
const (
	OpRead    Operation = "read"
	OpWrite   Operation = "write"
	OpExec    Operation = "exec"
	OpConnect Operation = "connect"
)

// Operations lists them in the order that people think of them.
func Operations() []Operation { return []Operation{OpRead, OpWrite, OpExec, OpConnect} }

// VerdictVersion is the version of the JSON form of Verdict.
const VerdictVersion = 1

// Verdict answers whether the policy allows an operation, and which rule decided.
type Verdict struct {
	Version   int       `json:"version"`
	Operation Operation `json:"operation"`
	Target    string    `json:"target"`             // as it was asked
	Resolved  string    `json:"resolved,omitempty"` // the real path, or host:port, that was judged
	Allowed   bool      `json:"allowed"`
	Absent    bool      `json:"absent"` // denied because the sandbox does not show it at all
	Rule      string    `json:"rule"`   // the rule that decided
	Origin    string    `json:"origin"` // where the rule comes from
	Why       string    `json:"why"`
	Notes     []string  `json:"notes,omitempty"`
	Mode      string    `json:"mode"`

	// Protected is the row of policy/protected.json whose name a path to be written
	// has, although no mount keeps it: a new name, or one that was not walked. What
	// the command makes there is refused or undone (filesystem.newProtected); what a
	// program outside writes there on its behalf is not.
	Protected string `json:"protected,omitempty"`
}

// Explain says whether the command of a request may read, write, execute or
// connect to a target, without starting anything (POL-14). A path is judged
// where it lands: links are followed, as far as the path exists. A relative path
// is taken from the request's cwd; a plain name to execute is looked up in PATH.
// The request needs no command; in strict mode a command's directories are shown
// to it, so naming it can change the answer.
//
// It is the policy's answer: the file's own permissions and owner still count.
func Explain(req Request, op Operation, target string) (Verdict, error) {
	list, err := ExplainAll(req, []Question{{op, target}})
	return list[0], err
}

// Question is one thing to ask ExplainAll.
type Question struct {
	Operation Operation
	Target    string
}

// ExplainAll answers many questions about one request like Explain, and looks at
// the policy and the machine once for all of them: an answer then costs
// microseconds instead of milliseconds. There is a verdict for each question; an
// error is the first one's that could not be answered.
func ExplainAll(req Request, questions []Question) ([]Verdict, error) {
	out := make([]Verdict, len(questions))
	for i, q := range questions {
		out[i] = Verdict{Version: VerdictVersion, Operation: q.Operation, Target: q.Target}
	}
	for _, q := range questions {
		if err := checkQuery(q.Operation, q.Target); err != nil {
			return out, err
		}
	}
	req.Events = nil
	r := newRun(req)
	eff, err := policy.Merge(append([]policy.Layer{policy.BuiltIn()}, req.Layers...)...)
	if err != nil {
		return out, err
	}
	for i := range out {
		out[i].Mode = eff.Policy.Mode.String()
	}
	foreign := r.assumeSystem(eff.Policy)
	sp, err := spec.Bind(r.host, eff, spec.Command{Argv: req.Command, Cwd: req.Cwd, Env: req.Env, User: req.User, Ask: true})
	if err == nil {
		err = r.memory.settled(sp) // acp asks about what the client is to write for the agent
	}
	if err == nil {
		err = r.unkept(sp)
	}
	if err != nil {
		return out, err
	}
	for i := range out {
		if out[i], err = r.answer(sp, out[i], foreign); err != nil {
			return out, err
		}
	}
	return out, nil
}

// unkept is the error of a policy that strict does not run on this workspace: an answer
// would be about something that never happens.
func (r *run) unkept(sp *spec.Spec) error {
	if r.host.GOOS != "linux" || !sp.Isolated() || sp.Policy.Mode != policy.Strict || len(sp.Protected.Linked) == 0 {
		return nil
	}
	return fault.New(fault.PolicyUnenforceable, "keep mode strict", "", "FS-04 "+string(report.Advisory)+": "+plan.SecondNames(sp.Protected.Linked))
}

// answer judges one target by a bound policy.
func (r *run) answer(sp *spec.Spec, v Verdict, foreign bool) (Verdict, error) {
	if r.host.GOOS == "windows" && sp.Isolated() && v.Operation != OpWrite {
		v.Notes = append(v.Notes, "on Windows reading and connecting are not prevented by the system: see FS-03 and NET-01 in qsandbox plan")
	}
	if foreign {
		v.Notes = append(v.Notes, "judged for "+r.host.GOOS+" with the paths of this machine")
	}
	done := v
	err := r.host.Within(explainLimit, func() error { done.decide(r.host, sp); return nil })
	if err != nil {
		return v, fault.Wrap(fault.PathInvalid, "resolve", v.Target, err).WithHint("a hung network or FUSE file system?")
	}
	return done, nil
}

// explainLimit bounds the following of links (LNX-12).
const explainLimit = 10 * time.Second

func checkQuery(op Operation, target string) error {
	switch op {
	case OpRead, OpWrite, OpExec, OpConnect:
	default:
		return fault.New(fault.UsageInvalid, "explain", string(op), "the operations are read, write, exec and connect")
	}
	if target == "" {
		return fault.New(fault.UsageInvalid, "explain "+string(op), "", "name a path, or for connect a host, host:port or socket")
	}
	if strings.IndexByte(target, 0) >= 0 {
		return fault.New(fault.UsageInvalid, "explain "+string(op), target, "a target cannot contain a NUL byte")
	}
	return nil
}

// decide asks the spec, once it is known what the target stands for.
func (v *Verdict) decide(h host.Host, s *spec.Spec) {
	q := spec.Query{Op: spec.Op(v.Operation)}
	if v.Operation == OpConnect && (strings.Contains(v.Target, "://") || !strings.ContainsRune(v.Target, '/')) {
		q.Host = hostOf(v.Target)
		v.Resolved = q.Host
		v.noteHost(s, q.Host)
	} else {
		p, ok := v.absolute(h, s)
		if !ok {
			v.Absent, v.Rule, v.Origin, v.Why = true, "PATH of the sandbox", "environment", "no program of that name is found in "+pathOf(s)
			return
		}
		v.Resolved = v.follow(h, p)
		q.Path, q.Host = v.Resolved, v.Resolved
	}
	if v.unconfined(s) {
		return
	}
	d := spec.Decide(s, q)
	if at := hiddenLink(h, s, v.asked(h, s)); d.Allowed && at != "" {
		d = spec.Decide(s, spec.Query{Op: spec.OpRead, Path: filepath.Dir(at)})
		d.Allowed, d.Why = false, "the way goes through the link "+at+", which is not in sight"
	}
	d = v.judged(s, q, d)
	d = v.newName(h, s, q, d)
	v.Allowed, v.Absent, v.Rule, v.Origin, v.Why = d.Allowed, d.Absent, d.Rule, d.Origin, d.Why
}

// unconfined answers for a policy that asks for no sandbox.
func (v *Verdict) unconfined(s *spec.Spec) bool {
	why := "no sandbox is used"
	switch {
	case !s.Policy.Enabled:
		v.Rule, v.Origin = "enabled false", "enabled"
	case s.Policy.Backend == policy.None:
		v.Rule, v.Origin = "backend none", "backend"
	default:
		return false
	}
	v.Allowed, v.Why = true, why
	return true
}
