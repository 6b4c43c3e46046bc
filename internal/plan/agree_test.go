package plan_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"sort"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// What a path gives in the end: a small model of its own, which shares no code
// with the mounter. The last mount that covers a path decides.
type view uint8

const (
	hidden view = iota
	private
	readOnly
	writable
)

func (v view) String() string { return [...]string{"hidden", "private", "read-only", "writable"}[v] }

func effective(mounts []plan.Mount, p string) view {
	v := hidden
	for _, m := range mounts {
		if m.Dst != "/" && p != m.Dst && !strings.HasPrefix(p, m.Dst+"/") {
			continue
		}
		switch m.Kind {
		case plan.RootHost, plan.Bind:
			v = writable
			if m.ReadOnly {
				v = readOnly
			}
		case plan.RootEmpty, plan.HideFile, plan.HideDir:
			v = hidden
		case plan.Tmpfs, plan.Dev, plan.Proc:
			v = private
		}
	}
	return v
}

// wanted is the rule of FS-02 said again: the most specific rule decides.
func wanted(s *spec.Spec, p string) (view, spec.Rule) {
	best, v := spec.Rule{}, readOnly
	if s.Policy.Mode == policy.Strict {
		v = hidden
	}
	for _, r := range append(append([]spec.Rule{}, s.System...), s.Rules...) {
		if (p == r.Path || strings.HasPrefix(p, r.Path+"/")) && len(r.Path) >= len(best.Path) {
			best, v = r, map[spec.Access]view{spec.Deny: hidden, spec.Private: private, spec.Read: readOnly, spec.Write: writable}[r.Access]
		}
	}
	return v, best
}

// tree makes a spec with random rules over names that sort before and after "/".
func tree(r *rand.Rand, mode policy.Mode) (*spec.Spec, []string) {
	names := []string{"a", "a-b", "a.b", "a b", "ab", "b", "a!"}
	s := &spec.Spec{GOOS: "linux", Policy: policy.Default()}
	s.Policy.Mode = mode
	seen := map[string]bool{"/": true}
	dirs := []string{"/"}
	for range 3 + r.IntN(9) {
		p := path.Join(dirs[r.IntN(len(dirs))], names[r.IntN(len(names))])
		if seen[p] {
			continue
		}
		seen[p] = true
		rule := spec.Rule{Path: p, Given: p, Access: spec.Access(r.IntN(4)), Kind: spec.Dir, Mount: true, Layer: spec.User, ID: spec.ID{Dev: 1, Ino: uint64(len(seen))}}
		if mode == policy.Strict && r.IntN(5) == 0 {
			rule.Access = spec.Read
			s.System = append(s.System, rule)
		} else {
			s.Rules = append(s.Rules, rule)
		}
		dirs = append(dirs, p)
	}
	sort.Slice(s.Rules, func(i, j int) bool { return s.Rules[i].Path < s.Rules[j].Path })
	var ask []string
	for _, d := range dirs {
		for _, n := range append(names, "x") {
			ask = append(ask, path.Join(d, n))
		}
	}
	return s, append(ask, dirs[1:]...)
}

// TestMountsKeepTheRules: what LinuxMounts makes is what FS-02 says, and what
// Decide answers is what the mounts give (POL-14).
func TestMountsKeepTheRules(t *testing.T) {
	for _, mode := range []policy.Mode{policy.Compat, policy.Strict} {
		t.Run(mode.String(), func(t *testing.T) {
			bad := 0
			for seed := range uint64(3000) {
				s, ask := tree(rand.New(rand.NewPCG(seed, 7)), mode)
				mounts := plan.LinuxMounts(s)
				for _, p := range ask {
					if why := disagree(s, mounts, p); why != "" {
						bad++
						t.Errorf("seed %d: %s\nrules:\n%s", seed, why, show(s))
						break
					}
				}
				if bad >= 3 {
					t.Fatal("and so on")
				}
			}
		})
	}
}

func disagree(s *spec.Spec, mounts []plan.Mount, p string) string {
	got := effective(mounts, p)
	want, r := wanted(s, p)
	if want == hidden && got == private {
		return "" // what the host has there is not visible in either
	}
	if got != want {
		return fmt.Sprintf("%s is %v, the rules say %v (%v %s)", p, got, want, r.Access, r.Path)
	}
	read, write := spec.Decide(s, spec.Query{Op: spec.OpRead, Path: p}).Allowed, spec.Decide(s, spec.Query{Op: spec.OpWrite, Path: p}).Allowed
	if write != (got >= writable || got == private) {
		return fmt.Sprintf("Decide says write %s: %v, it is %v", p, write, got)
	}
	if got != private && read != (got >= readOnly) {
		return fmt.Sprintf("Decide says read %s: %v, it is %v", p, read, got)
	}
	return ""
}

func show(s *spec.Spec) string {
	var b strings.Builder
	for _, r := range s.System {
		fmt.Fprintf(&b, "  system %v %q\n", r.Access, r.Path)
	}
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "  %v %q\n", r.Access, r.Path)
	}
	return b.String()
}

// TestGeneralBeforeSpecial: LNX-04, no mount covers one that came before it.
func TestGeneralBeforeSpecial(t *testing.T) {
	for seed := range uint64(500) {
		s, _ := tree(rand.New(rand.NewPCG(seed, 8)), policy.Compat)
		list := plan.LinuxMounts(s)
		for i, m := range list {
			for _, earlier := range list[:i] {
				if m.Kind != plan.Seal && earlier.Dst != m.Dst && strings.HasPrefix(earlier.Dst, m.Dst+"/") {
					t.Fatalf("seed %d: %s covers %s", seed, m.Dst, earlier.Dst)
				}
			}
		}
	}
}

// TestSiblingThatSortsBetween: a rule for "/w-x" must not make the mounter
// forget "/w" when it comes to "/w/sub".
func TestSiblingThatSortsBetween(t *testing.T) {
	s := &spec.Spec{GOOS: "linux", Policy: policy.Default()}
	for p, a := range map[string]spec.Access{"/w": spec.Write, "/w-x": spec.Write, "/w/sub": spec.Read} {
		s.Rules = append(s.Rules, spec.Rule{Path: p, Given: p, Access: a, Kind: spec.Dir, Mount: true})
	}
	sort.Slice(s.Rules, func(i, j int) bool { return s.Rules[i].Path < s.Rules[j].Path })
	if got := effective(plan.LinuxMounts(s), "/w/sub/file"); got != readOnly {
		t.Errorf("/w/sub is %v", got)
	}
}
