package backendtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The number of kills of each backend: 100, with QSANDBOX_LONG 1,000. Where that is
// more than the time of one test run allows, QSANDBOX_KILLS_LOG names a file to which
// each run adds its counts; the next one goes on from there.
const killsLogEnv = "QSANDBOX_KILLS_LOG"

// TestKilledLauncherLeavesNothing: PROC-02, SIGKILL at any moment. No process of any
// kind may stay, and what the next start has to clean up it does.
func TestKilledLauncherLeavesNothing(t *testing.T) {
	want := 100
	if Long() {
		want = 1000
	}
	for _, s := range []Setup{setups[0], setups[2]} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			NeedBackend(t, s.Backend)
			p := NewPlace(t)
			sum := killsBefore(t, s)
			if sum.Kills < want {
				sum.Add(runKiller(t, s, p, want-sum.Kills))
			}
			t.Log(sum)
			gone(t, tagOf(p))
			if sum.Kills >= 100 && (sum.Ran == 0 || sum.Ran == sum.Kills) {
				t.Errorf("INVALID: the kill came %d times of %d after the command's start", sum.Ran, sum.Kills)
			}
			if sum.Commands+sum.Others+sum.Mounts+sum.Temps+sum.Kept > 0 {
				t.Errorf("left behind:\n%s", strings.Join(sum.Told, "\n"))
			}
		})
	}
}

// TestCancelledStartLeavesNothing: PROC-02, a caller that gives up at any moment of
// the start. It is another way than SIGKILL: the launcher lives and takes down what it
// was building.
func TestCancelledStartLeavesNothing(t *testing.T) {
	for _, s := range []Setup{setups[0], setups[2]} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			NeedBackend(t, s.Backend)
			p := NewPlace(t)
			k := playKiller(t, p, role{Backend: s.Backend, Mode: s.Mode, Workspace: p.WS, Kills: 4, Cancels: 60, Tag: tagOf(p), Time: remaining(t) / 2,
				Longest: 15 * time.Millisecond, Command: []string{"/bin/bash", "-c", `touch started; sleep 30; :`, tagOf(p)}})
			t.Log(k)
			gone(t, tagOf(p))
			if k.Commands+k.Others+k.Mounts+k.Temps+k.Records+k.Kept > 0 {
				t.Errorf("left behind:\n%s", strings.Join(k.Told, "\n"))
			}
		})
	}
}

// runKiller has another process do the kills, as many as the time allows.
func runKiller(t *testing.T, s Setup, p *Place, n int) (k Kills) {
	t.Helper()
	k = playKiller(t, p, role{Backend: s.Backend, Mode: s.Mode, Workspace: p.WS, Kills: n, Tag: tagOf(p), Time: remaining(t) * 3 / 4,
		Longest: max(60*time.Millisecond, howLong(t, s, p)*3/2),
		Command: []string{"/bin/bash", "-c", `touch started; trap "" TERM HUP INT; setsid bash -c 'sleep 30; :' "$0" & sleep 30; :`, tagOf(p)}})
	if log := os.Getenv(killsLogEnv); log != "" {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := json.NewEncoder(f).Encode(k); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// playKiller starts a killer with state and temporary directories of its own.
func playKiller(t *testing.T, p *Place, r role) (k Kills) {
	t.Helper()
	for _, d := range []string{"/state", "/temp"} {
		if err := os.Mkdir(p.Root+d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleEnv+"="+string(data), "XDG_STATE_HOME="+p.Root+"/state", "TMPDIR="+p.Root+"/temp")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &k)
	}
	if err != nil {
		t.Fatalf("the killer: %v", err)
	}
	return k
}

// killsBefore sums what earlier runs wrote to the log.
func killsBefore(t *testing.T, s Setup) Kills {
	t.Helper()
	sum := Kills{Setup: s.String(), User: os.Geteuid()}
	log := os.Getenv(killsLogEnv)
	if log == "" {
		return sum
	}
	data, _ := os.ReadFile(log)
	for line := range strings.Lines(string(data)) {
		var k Kills
		if err := json.Unmarshal([]byte(line), &k); err != nil {
			t.Fatalf("%s: %v: %s", log, err, strconv.Quote(line))
		}
		if k.Setup == sum.Setup && k.User == sum.User {
			sum.Add(k)
		}
	}
	return sum
}

// howLong measures the way from the launcher's start to the command's.
func howLong(t *testing.T, s Setup, p *Place) time.Duration {
	t.Helper()
	start := time.Now()
	for range 5 {
		if out, err := s.Launcher(t, p, "/bin/true").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return time.Since(start) / 5
}
