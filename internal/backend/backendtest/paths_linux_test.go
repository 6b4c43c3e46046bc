package backendtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// odd are names that must work anywhere and inject nothing (FS-06).
var odd = map[string]string{
	"space":         "a b",
	"quotes":        `it's "quoted" ` + "`x`",
	"newline":       "line\nbreak",
	"non-ASCII":     "目录-ü",
	"dash":          "-rf",
	"invalid UTF-8": "bad\xff\xfename",
	"option":        "--bind",
	"dollar":        "$(touch x) ${HOME} %s",
	"brackets":      "a[1]{b}*?",
	"backslash":     `a\b\`,
	"comma colon":   "a,b:c=d",
	"control":       "esc\x1b[31m\x07",
}

func TestOddNamesOfWorkspaces(t *testing.T) {
	for name, text := range odd {
		t.Run(name, func(t *testing.T) {
			each(t, setups, func(t *testing.T, s Setup) {
				p := NewPlaceAt(t, text)
				s.Must(t, p, Call{Command: []string{"/bin/bash", "-c", `[ "$PWD" = "$WS" ] && echo x > made && cat sub/deep/file.txt`}})
				s.MustFail(t, p, Call{Script: `echo x > "$OUT/made"`})
				if _, err := os.Stat(filepath.Join(p.WS, "made")); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestOddNamesOfWritablePaths(t *testing.T) {
	for name, text := range odd {
		t.Run(name, func(t *testing.T) {
			each(t, both, func(t *testing.T, s Setup) {
				p := NewPlace(t)
				dir := filepath.Join(p.Out, text)
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				l := policy.EscapeLiteral(dir)
				deny := policy.EscapeLiteral(filepath.Join(dir, "hidden"))
				p.Write(t, filepath.Join(dir, "hidden"), Secret)
				r := s.runRaw(t, p, []string{l}, []string{deny}, []string{"/bin/bash", "-c", `echo x > "$1/made" && ! cat "$1/hidden" && ! echo x > "$OUT/made"`, "-", dir})
				if !r.OK() {
					t.Fatal(r.Describe())
				}
			})
		})
	}
}

// runRaw takes policy entries as they are.
func (s Setup) runRaw(t *testing.T, p *Place, writable, denyRead, command []string) Result {
	t.Helper()
	raw := &Place{Root: p.Root, WS: p.WS, Out: p.Out, Home: p.Home}
	return s.Run(t, raw, Call{Command: command, Policy: Policy{Writable: dollars(writable), DenyRead: dollars(denyRead)}})
}

// dollars protects entries from Place.Expand.
func dollars(list []string) (out []string) {
	for _, e := range list {
		s := ""
		for _, c := range []byte(e) {
			if c == '$' {
				s += "${DOLLAR}"
				continue
			}
			s += string([]byte{c})
		}
		out = append(out, s)
	}
	return out
}

// TestRefusedBeforeAnythingRuns: FS-05, FS-09.
func TestRefusedBeforeAnythingRuns(t *testing.T) {
	outside, invalid := fault.ErrPathOutsideWorkspace, &fault.Error{Code: fault.PathInvalid}
	for name, c := range map[string]struct {
		ws, cwd  string
		writable []string
		want     error
	}{
		"FS-05 a cwd outside":                 {cwd: "$OUT", want: outside},
		"FS-05 a cwd above":                   {cwd: "..", want: outside},
		"FS-05 a cwd by a link to outside":    {cwd: "planted", want: outside},
		"FS-05 a cwd that shares a prefix":    {cwd: "$WS-other", want: outside},
		"FS-05 a cwd that is missing":         {cwd: "nowhere", want: invalid},
		"FS-05 a cwd that is a file":          {cwd: "own.txt", want: invalid},
		"FS-09 the root as workspace":         {ws: "/", want: invalid},
		"FS-09 the root by dots":              {ws: "/usr/..", want: invalid},
		"FS-09 the root by a link":            {ws: "$T/root", want: invalid},
		"FS-09 a parent of the home":          {ws: "$HOME/..", want: invalid},
		"FS-09 a system directory":            {ws: "/etc", want: invalid},
		"FS-09 the root as writable path":     {writable: []string{"/"}, want: invalid},
		"FS-09 /home as writable path":        {writable: []string{"/home"}, want: invalid},
		"FS-09 /proc as writable path":        {writable: []string{"/proc"}, want: invalid},
		"FS-09 a planted link as writable":    {writable: []string{"planted"}, want: invalid},
		"FS-09 a path through a planted link": {writable: []string{"planted/dir"}, want: invalid},
		"FS-09 a dangling link as writable":   {writable: []string{"dangling"}, want: invalid},
		"FS-06 a missing workspace":           {ws: "$T/nowhere", want: invalid},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPlace(t)
			p.Host(t, `mkdir "$WS-other"; ln -s "$OUT" planted; ln -s "$OUT/none" dangling; ln -s / "$T/root"`)
			if c.ws != "" {
				p.WS = p.Expand(c.ws)
			}
			r := Native.Run(t, p, Call{Command: []string{"/bin/true"}, Cwd: p.Expand(c.cwd), Policy: Policy{Writable: c.writable}})
			if !errors.Is(r.Err, c.want) {
				t.Errorf("want %v, got %s", c.want, r.Describe())
			}
		})
	}
}

// TestCwdInsideTheWorkspace is the allow twin of FS-05.
func TestCwdInsideTheWorkspace(t *testing.T) {
	each(t, setups, func(t *testing.T, s Setup) {
		p := NewPlace(t)
		p.Host(t, `ln -s sub/deep link`)
		for _, cwd := range []string{"", "sub", p.WS + "/sub/deep", "link", "."} {
			s.Must(t, p, Call{Script: `touch here`, Cwd: cwd})
		}
	})
}

// TestSwappedDirectoryOpensNothing exchanges a directory of the policy and a link
// to the outside all the time while sandboxes start (FS-06): nothing may ever be
// written outside, and starts that meet the directory work.
func TestSwappedDirectoryOpensNothing(t *testing.T) {
	starts := 30
	if Long() {
		starts = 300
	}
	for _, what := range []string{"writable", "workspace", "cwd"} {
		for _, s := range both {
			t.Run(what+"/"+s.String(), func(t *testing.T) {
				NeedBackend(t, s.Backend)
				p := NewPlace(t)
				p.Host(t, `mkdir "$T/rw" && touch "$T/rw/own.txt" && mkdir "$WS/in" && ln -s "$OUT" "$T/other"`)
				dir := filepath.Join(p.Root, "rw")
				c := Call{Script: `echo x > "$T/rw/x"; echo x > x; echo x > "$OUT/x"; echo x > "$T/other/x"`}
				switch what {
				case "writable":
					c.Policy.Writable = []string{"$T/rw"}
				case "workspace":
					p.WS = dir
				case "cwd":
					dir = filepath.Join(p.WS, "in")
					c.Cwd = dir
				}
				other, ran := filepath.Join(p.Root, "other"), 0
				run := func() {
					if r := s.Run(t, p, c); r.Err == nil {
						ran++
					}
				}
				stop := swap(t, dir, other, 0)
				for range starts {
					run()
				}
				stop()
				if ran == 0 { // every look of a start must meet the directory: that takes luck, or a rest
					stop = swap(t, dir, other, 200*time.Millisecond)
					for i := 0; i < 5*starts && ran == 0; i++ {
						run()
					}
					stop()
				}
				if got := p.Host(t, `ls "$OUT"`); got != "dir\nsecret.txt" {
					t.Errorf("something was written outside: %q", got)
				}
				if ran == 0 {
					t.Error("no start ever met the directory")
				}
				t.Logf("%d of %d starts ran a command", ran, starts)
			})
		}
	}
}
