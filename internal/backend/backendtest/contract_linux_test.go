package backendtest

import (
	"fmt"
	"os"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// pair is one row of the contract: something that is refused, and its twin that
// is not. Scripts are bash; they succeed with exit 0.
type pair struct {
	req, name string
	policy    Policy
	setup     string // on the host, before
	deny      string // fails inside, and works without the sandbox
	allow     string // works inside
	after     string // on the host, after both: must hold
	only      policy.Mode
	oneMode   bool // only the mode of only
	root      bool // only as root
	noControl string
}

func in(mode policy.Mode, p pair) pair { p.only, p.oneMode = mode, true; return p }
func compat(p pair) pair               { return in(policy.Compat, p) }
func strict(p pair) pair               { return in(policy.Strict, p) }
func asRoot(p pair) pair               { p.root = true; return p }

func TestContract(t *testing.T) {
	var table []pair
	for _, part := range [][]pair{writes, rules, reads, paths, network, linux, variables} {
		table = append(table, part...)
	}
	for _, c := range table {
		t.Run(c.req+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			if c.root {
				NeedRoot(t)
			}
			c.control(t)
			for _, s := range setups {
				if c.oneMode && s.Mode != c.only {
					continue
				}
				t.Run(s.String(), func(t *testing.T) {
					NeedBackend(t, s.Backend)
					c.check(t, s)
				})
			}
		})
	}
}

// control shows that the attempt would succeed if nothing stopped it.
func (c pair) control(t *testing.T) {
	if c.deny == "" || c.noControl != "" {
		return
	}
	p := NewPlace(t)
	c.prepare(t, p)
	r := None.Run(t, p, Call{Policy: c.policy, Script: c.deny})
	if r.OK() {
		return
	}
	// Some attempts need what even backend none takes away.
	if out, err := p.tryHost(c.deny); err != nil {
		t.Logf("on the host: %v\n%s", err, out)
		t.Fatalf("INVALID: without the sandbox the attempt must succeed\n%s\n%s", c.deny, r.Describe())
	}
}

func (c pair) prepare(t *testing.T, p *Place) {
	if c.setup != "" {
		p.Host(t, c.setup)
	}
}

// Exit codes of the script that tries both sides in one start.
const (
	notDenied  = 90
	notAllowed = 91
)

func (c pair) check(t *testing.T, s Setup) {
	p := NewPlace(t)
	c.prepare(t, p)
	script := ""
	if c.deny != "" {
		script = fmt.Sprintf("if (\n%s\n); then exit %d; fi\n", c.deny, notDenied)
	}
	if c.allow != "" {
		script += fmt.Sprintf("(\n%s\n) || exit %d\n", c.allow, notAllowed)
	}
	r := s.Run(t, p, Call{Policy: c.policy, Script: script + "exit 0"})
	switch {
	case r.OK():
	case r.Err == nil && r.Exit.Code == notDenied:
		t.Errorf("NOT DENIED: this should be refused, but it worked\n%s\n%s", c.deny, r.Describe())
	case r.Err == nil && r.Exit.Code == notAllowed:
		t.Errorf("NOT ALLOWED: this should work\n%s\n%s", c.allow, r.Describe())
	default:
		t.Errorf("%s\n%s", script, r.Describe())
	}
	if out, err := p.tryHost("[ \"$(cat $OUT/secret.txt)\" = " + Secret + " ] && " + orTrue(c.after)); err != nil {
		t.Errorf("afterwards, on the host: %v\n%s\n%s", err, c.after, out)
	}
}

func orTrue(s string) string {
	if s == "" {
		return "true"
	}
	return "{ " + s + "\n}"
}

// TestContractHasBothSides keeps the table honest: no deny without a twin.
func TestContractHasBothSides(t *testing.T) {
	for _, part := range [][]pair{writes, rules, reads, paths, network, linux, variables} {
		for _, c := range part {
			if c.deny == "" && c.allow == "" {
				t.Errorf("%s/%s tries nothing", c.req, c.name)
			}
			if c.deny != "" && c.allow == "" {
				t.Errorf("%s/%s has no allow twin", c.req, c.name)
			}
		}
	}
	if os.Getenv("HOME") == "" {
		t.Error("no home of decoys")
	}
}
