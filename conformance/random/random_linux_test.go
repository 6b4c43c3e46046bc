package random

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
)

// TestMain lets the test binary be what runs inside.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "perform" {
		if err := Perform(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var backends = []string{"linux-native", "linux-bwrap"}

// opsPerWorld are done in one start of a sandbox.
const opsPerWorld = 120

// linksAge is how old links must be before the product trusts them to be no swap.
const linksAge = 300 * time.Millisecond

// place makes a directory for worlds. It lies outside /tmp, which is private inside
// a sandbox; everything that happens happens in it.
func place(t *testing.T) Place {
	t.Helper()
	home, _ := os.UserHomeDir()
	dir, err := "", error(nil)
	for _, parent := range []string{"/var/lib", home, "."} {
		if dir, err = os.MkdirTemp(parent, "qsandbox-random-"); err == nil {
			break
		}
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Skip("no place outside /tmp: ", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	p := Place{Dir: dir, Program: filepath.Join(dir, "bin", "random")}
	if err := os.Mkdir(filepath.Dir(p.Program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// need skips when a backend cannot be had; QSANDBOX_REQUIRE makes that a failure.
func need(t *testing.T, list ...string) {
	t.Helper()
	d, err := qsandbox.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range d.Backends {
		if slices.Contains(list, b.Name) && b.Answer != qsandbox.AnswerYes {
			if slices.Contains(strings.Split(os.Getenv("QSANDBOX_REQUIRE"), ","), b.Name) {
				t.Fatalf("%s is required here: %s", b.Name, b.Reason)
			}
			t.Skipf("%s: %s", b.Name, b.Reason)
		}
	}
}

// TestKernelExplainAndRulesAgree is CNF-08. QSANDBOX_RANDOM=200000 tries that many
// pairs, QSANDBOX_RANDOM_SEED begins elsewhere.
func TestKernelExplainAndRulesAgree(t *testing.T) {
	need(t, backends...)
	want := number(t, "QSANDBOX_RANDOM", 2000)
	seed := uint64(number(t, "QSANDBOX_RANDOM_SEED", 1))
	p := place(t)
	began, pairs, runs, refused, wrong := time.Now(), 0, 0, map[string]int{}, 0
	for pairs < want && wrong < 5 {
		var worlds []World
		for range 20 {
			w := Generate(seed, opsPerWorld)
			seed++
			if err := w.Build(p.world(w)); err != nil {
				t.Fatal(err)
			}
			worlds = append(worlds, w)
		}
		time.Sleep(linksAge)
		for _, w := range worlds {
			for _, b := range backends {
				res, err := p.Try(t.Context(), w, p.world(w), b)
				if err != nil {
					t.Error(err)
					wrong++
					continue
				}
				runs++
				pairs += res.Pairs
				if res.Refused != "" {
					refused[firstWords(res.Refused)]++
				}
				if len(res.Disagreements) > 0 {
					wrong++
					p.tell(t, res.Disagreements[0], len(res.Disagreements))
				}
			}
			if err := os.RemoveAll(p.world(w)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d pairs of policy and operation in %d runs, %v; policies refused by both: %v", pairs, runs, time.Since(began).Round(time.Second), refused)
	if n := runs * opsPerWorld / 2; pairs < n/3 {
		t.Errorf("%d pairs in %d runs: most operations could not be compared", pairs, runs)
	}
}

func (p Place) world(w World) string { return filepath.Join(p.Dir, fmt.Sprint("w", w.Seed)) }

func firstWords(s string) string { return strings.Join(strings.Fields(s)[:3], " ") }

func number(t *testing.T, name string, none int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return none
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// tell shrinks a disagreement and prints it as a case.
func (p Place) tell(t *testing.T, d Disagreement, more int) {
	t.Helper()
	_, last := p.shrink(t, d, read)
	t.Errorf("%v (%d in this world)\nmade smaller: %v\n%s", d, more, last, last.CaseFile())
}

// shrink gives the smallest world in which the same kind of operation is in
// disagreement, and the disagreement there.
func (p Place) shrink(t *testing.T, d Disagreement, second func(string, Rules) *reading) (World, Disagreement) {
	t.Helper()
	n, last := 0, d
	small := Shrink(d.World, d.Op, func(w World) bool {
		n++
		root := filepath.Join(p.Dir, fmt.Sprintf("s%d-%d", w.Seed, n))
		defer os.RemoveAll(root)
		if w.Build(root) != nil {
			return false
		}
		if slices.ContainsFunc(w.Nodes, func(n Node) bool { return n.Kind == Link }) {
			time.Sleep(linksAge)
		}
		res, err := p.try(t.Context(), w, root, d.Backend, second)
		if err != nil || len(res.Disagreements) == 0 {
			return false
		}
		last = res.Disagreements[0]
		return true
	})
	return small, last
}

// TestPlantedMistakeIsFoundAndShrunk gives the comparison a reading that forgets
// denyWrite: it must be caught, with one name, one rule and one operation left.
func TestPlantedMistakeIsFoundAndShrunk(t *testing.T) {
	need(t, "linux-native")
	p := place(t)
	forgetful := func(root string, r Rules) *reading {
		r.DenyWrite = nil
		return read(root, r)
	}
	w := World{Seed: 7, Rules: Rules{Mode: "compat", Readable: []string{"@/out/a"}, DenyRead: []string{"b"}, DenyWrite: []string{"br\\[1\\]", "other"}}}
	for _, f := range []string{"ws/b", "ws/br[1]", "ws/c", "out/a", "home/x"} {
		w.Nodes = append(w.Nodes, Node{Path: f, Kind: File})
		w.Ops = append(w.Ops, Op{Verb: Read, Path: f}, Op{Verb: Write, Path: f})
	}
	if err := w.Build(p.world(w)); err != nil {
		t.Fatal(err)
	}
	if res, err := p.Try(t.Context(), w, p.world(w), "linux-native"); err != nil || len(res.Disagreements) > 0 || res.Pairs != 10 {
		t.Fatalf("the right reading: %d pairs, %v, %v", res.Pairs, res.Disagreements, err)
	}
	res, err := p.try(t.Context(), w, p.world(w), "linux-native", forgetful)
	if err != nil || len(res.Disagreements) != 1 || res.Disagreements[0].Op != (Op{Verb: Write, Path: "ws/br[1]"}) {
		t.Fatalf("the forgetful reading: %v, %v", res.Disagreements, err)
	}
	small, last := p.shrink(t, res.Disagreements[0], forgetful)
	if len(small.Nodes) != 1 || len(small.Ops) != 1 || len(small.Rules.Readable)+len(small.Rules.DenyRead) != 0 || len(small.Rules.DenyWrite) != 1 {
		t.Errorf("made smaller: %+v", small)
	}
	for _, want := range []string{`"denyWrite":["br\\[1\\]"]`, `> "$T/$(printf 'ws/br\1331\135')"`, "expect: works", "id: RND-007"} {
		if !strings.Contains(last.CaseFile(), want) {
			t.Errorf("the case file lacks %s:\n%s", want, last.CaseFile())
		}
	}
}

// TestWorldsAreVaried: what random testing never makes up it never tests.
func TestWorldsAreVaried(t *testing.T) {
	have := map[string]bool{}
	for seed := range uint64(200) {
		w := Generate(seed, opsPerWorld)
		have[w.Rules.Mode] = true
		for _, n := range w.Nodes {
			have[string(n.Kind)] = true
			have[filepath.Base(n.Path)] = true
		}
		for _, o := range w.Ops {
			have[string(o.Verb)] = true
		}
		for i := range 5 {
			have[fmt.Sprint("list", i)] = have[fmt.Sprint("list", i)] || len(*w.Rules.list(i)) > 0
		}
	}
	want := append([]string{"strict", "compat", "dir", "file", "script", "link", "hard", "read", "list", "write", "create", "mkdir", "exec", "rename", ".aws", "list0", "list1", "list2", "list3", "list4"}, names...)
	for _, w := range want {
		if !have[w] {
			t.Errorf("no world has %q", w)
		}
	}
	if once, again := Generate(5, 9), Generate(5, 9); fmt.Sprint(once) != fmt.Sprint(again) {
		t.Error("one seed gives two worlds")
	}
}
