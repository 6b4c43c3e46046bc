//go:build linux

package protect

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// reread sends what Scan found through the form that a journal has.
func reread(t *testing.T, f Found) (g Found) {
	t.Helper()
	data, err := json.Marshal(f.mapped(armour))
	must(t, err)
	must(t, json.Unmarshal(data, &g))
	return g.mapped(disarm)
}

func TestJournal(t *testing.T) {
	p := newPlace(t)
	p.repo("")
	state := filepath.Join(p.home, "state")
	f := p.scan()
	j, err := Begin(p.h, state, f, Meta{RunID: "r1", Workspace: p.ws})
	must(t, err)
	if _, err := Begin(p.h, state, f, Meta{RunID: "r1"}); err == nil {
		t.Error("two runs of one id")
	}
	if st, _ := os.Stat(j.path); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	if st, _ := os.Stat(filepath.Dir(j.path)); st.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", st.Mode())
	}
	if list, notes := Pending(p.h, state); len(list) != 0 || len(notes) != 0 {
		t.Errorf("a run that goes on is pending: %v %v", list, notes)
	}
	must(t, j.End())
	if left, _ := os.ReadDir(filepath.Dir(j.path)); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestDeadLauncher is a launcher that was killed: the test binary as a child writes
// the journal and dies by SIGKILL.
func TestDeadLauncher(t *testing.T) {
	if state := os.Getenv("PROTECT_DIE"); state != "" {
		h := host.Real()
		f := Scan(h, []string{os.Getenv("PROTECT_WS")}, nil, nil, Limits{})
		if _, err := Begin(h, state, f, Meta{RunID: "dead", Workspace: os.Getenv("PROTECT_WS")}); err != nil {
			os.Exit(1)
		}
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
	p := newPlace(t)
	p.repo("")
	state := filepath.Join(p.home, "state")
	cmd := exec.Command(os.Args[0], "-test.run=TestDeadLauncher$")
	cmd.Env = append(os.Environ(), "PROTECT_DIE="+state, "PROTECT_WS="+p.ws)
	if err := cmd.Run(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatal(err)
	}
	p.write(".git/hooks/pre-commit", evilHook)
	list, notes := Pending(p.h, state)
	if len(list) != 1 || len(notes) != 0 || list[0].RunID != "dead" || list[0].Workspace != p.ws {
		t.Fatalf("pending: %+v %v", list, notes)
	}
	var mine []*Journal
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			j, err := list[0].Adopt(p.h)
			if err != nil {
				t.Error(err)
			}
			if mu.Lock(); j != nil {
				mine = append(mine, j)
			}
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(mine) != 1 {
		t.Fatalf("%d adopted it", len(mine))
	}
	if again, _ := Pending(p.h, state); len(again) != 0 {
		t.Errorf("adopted, and pending: %+v", again)
	}
	v := Check(p.h, list[0].Found)
	if moves := p.moves(v); !slices.Equal(moves, []string{".git/hooks/pre-commit"}) {
		t.Fatalf("%+v", v)
	}
	if _, err := Quarantine(v[0], state, list[0].RunID); err != nil {
		t.Fatal(err)
	}
	must(t, mine[0].End())
}

func TestForeignJournals(t *testing.T) {
	p := newPlace(t)
	state := filepath.Join(p.home, "state")
	j, err := Begin(p.h, state, p.scan(), Meta{RunID: "r"})
	must(t, err)
	good, err := os.ReadFile(j.path)
	must(t, err)
	dir := filepath.Dir(j.path)
	secret := filepath.Join(p.home, "secret")
	must(t, os.WriteFile(secret, good, 0o600))
	must(t, os.Symlink(secret, dir+"/link.json"))
	must(t, os.WriteFile(dir+"/torn.json", good[:len(good)/2], 0o600))
	must(t, os.WriteFile(dir+"/empty.json", nil, 0o600))
	must(t, os.WriteFile(dir+"/open.json", good, 0o644))
	must(t, os.Mkdir(dir+"/folder.json", 0o700))
	must(t, os.Link(secret, dir+"/hard.json"))
	relative := strings.Replace(string(good), `"roots":["`, `"roots":["x`, 1)
	must(t, os.WriteFile(dir+"/relative.json", []byte(relative), 0o600))
	must(t, exec.Command("mkfifo", "-m", "600", dir+"/pipe.json").Run())
	list, notes := Pending(p.h, state)
	if len(list) != 0 || len(notes) != 8 {
		t.Errorf("%+v\n%+v", list, notes)
	}
	if left, _ := os.ReadDir(dir); len(left) != 9 {
		t.Errorf("something was removed: %v", left)
	}
}

func TestAnotherProcess(t *testing.T) {
	h := host.Real()
	me, err := identify(h, os.Getpid())
	must(t, err)
	for name, c := range map[string]struct {
		change func(*process)
		alive  bool
		fails  bool
	}{
		"itself":        {func(p *process) {}, true, false},
		"other boot":    {func(p *process) { p.Boot = "x" }, false, false},
		"other start":   {func(p *process) { p.Start = "1" }, false, false},
		"no such pid":   {func(p *process) { p.PID = 1 << 30 }, false, false},
		"other pid ns":  {func(p *process) { p.PIDNS = "pid:[1]" }, true, true},
		"its own child": {func(p *process) { p.PID = os.Getppid() }, false, false},
	} {
		p := me
		c.change(&p)
		if alive, err := p.alive(h); alive != c.alive || (err != nil) != c.fails {
			t.Errorf("%s: alive %v, %v", name, alive, err)
		}
	}
	if me.Start == "" {
		t.Error("no start time")
	}
}
