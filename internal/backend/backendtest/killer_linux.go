package backendtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kills counts what launchers left that were killed with SIGKILL at random moments.
type Kills struct {
	Setup    string
	User     int
	Kills    int
	Ran      int // the command had begun
	Commands int // that outlived their launcher
	Others   int // processes of ours that did, without a command
	Mounts   int // in the mount namespace of the launchers' parent
	Temps    int // temporary files
	Records  int // journals that were there for the next start
	Kept     int // journals and groups that were still there after it
	Told     []string
}

// Add sums counts up.
func (k *Kills) Add(o Kills) {
	k.Kills, k.Ran, k.Commands, k.Others = k.Kills+o.Kills, k.Ran+o.Ran, k.Commands+o.Commands, k.Others+o.Others
	k.Mounts, k.Temps, k.Records, k.Kept = k.Mounts+o.Mounts, k.Temps+o.Temps, k.Records+o.Records, k.Kept+o.Kept
	k.Told = append(k.Told, o.Told...)
}

// String is one line.
func (k Kills) String() string {
	return fmt.Sprintf("%s as user %d: %d kills, %d of them after the command began; outlived by %d commands and %d other processes; left %d mounts, %d temporary files, %d journals, of which the next start kept %d",
		k.Setup, k.User, k.Kills, k.Ran, k.Commands, k.Others, k.Mounts, k.Temps, k.Records, k.Kept)
}

// lastGasp is the time in which everything must be gone after a kill.
const lastGasp = 3 * time.Second

// killer starts launchers and kills them. It is a process of its own, as it adopts
// all that is orphaned below it (PR_SET_CHILD_SUBREAPER): what outlives a launcher
// becomes its child, whatever it is called, and none can be overlooked.
type killer struct {
	role
	count  Kills
	ids    map[string]bool // of runs that left a journal
	mounts int
}

// kill plays the killer of a role and prints its counts.
func kill(r role) int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	k := &killer{role: r, ids: map[string]bool{}, mounts: mounts()}
	k.count = Kills{Setup: Setup{r.Backend, r.Mode}.String(), User: os.Geteuid()}
	for until := time.Now().Add(r.Time); k.count.Kills < r.Kills && time.Now().Before(until); {
		if err := k.once(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 125
		}
	}
	if err := k.after(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	_ = json.NewEncoder(os.Stdout).Encode(k.count)
	return 0
}

// launcher is a new start of this binary with another role.
func (k *killer) launcher(command ...string) (*exec.Cmd, error) {
	data, err := json.Marshal(role{Backend: k.Backend, Mode: k.Mode, Workspace: k.Workspace, Command: command, Cancels: k.Cancels, Longest: k.Longest})
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleEnv+"="+string(data))
	return cmd, err
}

// once kills one launcher at a random moment.
func (k *killer) once() error {
	started := filepath.Join(k.Workspace, "started")
	_ = os.Remove(started)
	cmd, err := k.launcher(k.Command...)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	if k.Cancels == 0 {
		time.Sleep(time.Duration(rand.Int64N(int64(k.Longest))))
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait()
	k.count.Kills++
	if _, err := os.Stat(started); err == nil {
		k.count.Ran++
	}
	k.adopt()
	for _, id := range k.journals() {
		k.ids[id] = true
	}
	return nil
}

// adopt waits until all that was orphaned is gone, and counts what stays.
func (k *killer) adopt() {
	for until := time.Now().Add(lastGasp); ; time.Sleep(500 * time.Microsecond) {
		_, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if errors.Is(err, unix.ECHILD) {
			return
		}
		if time.Now().After(until) {
			break
		}
	}
	for _, pid := range below(os.Getpid()) {
		told := processWords(pid)
		if strings.Contains(told, k.Tag) {
			k.count.Commands++
		} else {
			k.count.Others++
		}
		k.count.Told = append(k.count.Told, told)
		_ = unix.Kill(pid, syscall.SIGKILL)
	}
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// below lists the living descendants of a process.
func below(pid int) (out []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, l := range lists {
		b, _ := os.ReadFile(l)
		for _, f := range strings.Fields(string(b)) {
			child := 0
			if _, err := fmt.Sscan(f, &child); err == nil {
				out = append(append(out, child), below(child)...)
			}
		}
	}
	return out
}

// processWords tells what a process is and what it waits for.
func processWords(pid int) string {
	read := func(name string) string {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		return strings.ReplaceAll(strings.TrimSpace(string(b)), "\x00", " ")
	}
	return fmt.Sprintf("%d %q waits in %s, system call %q, environment %q", pid, read("cmdline"), read("wchan"), read("syscall"), read("environ"))
}

func mounts() int {
	b, _ := os.ReadFile("/proc/self/mountinfo")
	return strings.Count(string(b), "\n")
}

// journals gives the ids of the runs whose journal is there.
func (k *killer) journals() (ids []string) {
	found, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "qsandbox/journal/*.json"))
	for _, f := range found {
		id := strings.TrimSuffix(filepath.Base(f), ".json")
		ids = append(ids, id[strings.LastIndexByte(id, '-')+1:])
	}
	return ids
}

// after counts what is there, lets one more command run to its end, and counts again.
func (k *killer) after() error {
	k.count.Records = len(k.ids)
	k.count.Mounts = max(0, mounts()-k.mounts)
	temps, _ := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	k.count.Temps = len(temps)
	k.Cancels = 0
	cmd, err := k.launcher("/bin/true")
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the start after the kills: %w: %s", err, out)
	}
	for _, id := range k.journals() {
		k.count.Kept++
		k.count.Told = append(k.count.Told, "journal "+id)
	}
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && k.ids[e.Name()[strings.LastIndexByte(e.Name(), '-')+1:]] {
			k.count.Kept++
			k.count.Told = append(k.count.Told, "group "+path)
		}
		return nil
	})
	return nil
}
