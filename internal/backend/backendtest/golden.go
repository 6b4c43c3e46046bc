package backendtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Golden compiles every example spec with a backend and compares the plans with
// testdata/NAME.golden. It runs on every system, as Compile is pure.
func Golden(t *testing.T, b backend.Backend, sup backend.Support) { GoldenOf(t, b, sup, Examples()) }

// GoldenOf is Golden for specs of a backend's own.
func GoldenOf(t *testing.T, b backend.Backend, sup backend.Support, list []Example) {
	for _, e := range list {
		t.Run(e.Name, func(t *testing.T) {
			got := ""
			p, err := b.Compile(e.Spec, sup)
			if err != nil {
				got = "error: " + err.Error() + "\n"
			} else {
				got = Render(p)
			}
			if again, _ := b.Compile(e.Spec, sup); err == nil && Render(again) != got {
				t.Fatal("Compile gives another plan the second time: it is not pure")
			}
			compareGolden(t, filepath.Join("testdata", e.Name+".golden"), got)
		})
	}
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run the test with -update", err)
	}
	if w := strings.ReplaceAll(string(want), "\r\n", "\n"); w != got {
		t.Errorf("%s differs (-update writes it anew):\n%s", file, firstDifference(w, got))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := at(w, i), at(g, i)
		if a != b {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, a, b)
		}
	}
	return "equal"
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}

// Render writes a plan as text, one thing a line. The filter is told by its
// presence: its content has tests of its own.
func Render(p *plan.Plan) string {
	var b strings.Builder
	line := func(key string, v any) { fmt.Fprintf(&b, "%s: %v\n", key, v) }
	line("backend", p.Backend+" "+p.Mode)
	line("exe", p.Exe)
	line("argv", fmt.Sprintf("%q", p.Argv))
	line("env", fmt.Sprintf("%q", p.Env))
	line("cwd", p.Cwd)
	line("user", fmt.Sprintf("%+v", p.User))
	line("stdin", fmt.Sprint(p.Stdin, " tty ", p.TTY))
	line("isolation", fmt.Sprintf("%+v", p.Isolation))
	for _, c := range p.Create {
		line("create", c)
	}
	for _, m := range p.Mounts {
		line("mount", renderMount(m))
	}
	if p.Outer != nil {
		line("outer", fmt.Sprintf("%s by-fd %v", p.Outer.Program, p.Outer.ByFD))
		renderArgs(&b, p.Outer.Args)
	}
	if p.Profile != nil {
		for l := range strings.Lines(p.Profile.Text) {
			b.WriteString("  profile " + l)
		}
	} else {
		line("seccomp", len(p.Seccomp) > 0)
	}
	if l := p.Landlock; l != nil {
		line("landlock", fmt.Sprintf("abi %d attr %x scoped %#x", l.ABI, l.Attr, l.Scoped))
		for _, r := range l.Rules {
			line("  rule", fmt.Sprintf("%#x %s", r.Access, r.Path))
		}
	}
	line("limits", fmt.Sprintf("%+v", p.Limits))
	line("kernel", fmt.Sprintf("%+v", p.Kernel))
	for _, e := range p.Enforcement {
		line("row", fmt.Sprintf("%s %s by %q %s", e.Requirement, e.Level, e.Mechanism, e.Why))
	}
	for _, n := range p.Notices {
		line("notice", n.Kind+": "+n.Text)
	}
	return b.String()
}

func renderMount(m plan.Mount) string {
	s := string(m.Kind) + " " + m.Dst
	for _, f := range []struct {
		on   bool
		text string
	}{
		{m.Src != "" && m.Src != m.Dst, "from " + m.Src}, {m.Dir, "dir"}, {m.ReadOnly, "ro"}, {m.Make, "make"},
		{m.ID.Ino != 0, fmt.Sprintf("id %d:%d", m.ID.Dev, m.ID.Ino)}, {m.Size != 0, fmt.Sprintf("size %d", m.Size)},
		{m.Mode != 0, fmt.Sprintf("mode %04o", m.Mode)}, {m.Target != "", "-> " + m.Target}, {m.Origin != "", "(" + m.Origin + ")"},
	} {
		if f.on {
			s += " " + f.text
		}
	}
	return s
}

// renderArgs puts each option with its values on a line.
func renderArgs(b *strings.Builder, args []plan.OuterArg) {
	for i, a := range args {
		text := a.Text
		if a.Open != "" {
			text = fmt.Sprintf("<fd of %s id %d:%d>", a.Open, a.ID.Dev, a.ID.Ino)
		}
		if strings.HasPrefix(text, "--") {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString("  arg")
		}
		b.WriteString(" " + text)
	}
	b.WriteString("\n")
}
