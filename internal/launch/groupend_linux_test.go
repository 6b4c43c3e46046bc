package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestEndGroup: what a killed launcher left is ended before its groups are removed, in
// either version; a group of another name is left alone.
func TestEndGroup(t *testing.T) {
	for _, base := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"} {
		if _, err := os.Stat(base + "/cgroup.procs"); err != nil {
			continue
		}
		t.Run(filepath.Base(base), func(t *testing.T) {
			id := fmt.Sprintf("endtest%d", os.Getpid())
			old, other := filepath.Join(base, groupPrefix+id), filepath.Join(base, groupPrefix+id+"x")
			var ended [2]chan error
			for i, dir := range []string{old, other} {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Skip("no group can be made here: ", err)
				}
				defer os.Remove(dir)
				cmd := exec.Command("/bin/sh", "-c", `trap "" TERM; sleep 30 & sleep 31 & wait`)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer cmd.Process.Kill()
				if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0); err != nil {
					t.Skip("no process can be moved here: ", err)
				}
				ended[i] = make(chan error, 1)
				go func() { ended[i] <- cmd.Wait() }()
			}
			if err := EndGroup(map[string]string{"pids": base, "cpu": base}, id); err != nil {
				t.Fatal(err)
			}
			if err := <-ended[0]; err == nil {
				t.Error("the process was not killed")
			}
			if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the group is still there: %v", err)
			}
			select {
			case err := <-ended[1]:
				t.Errorf("a process of another group was ended: %v", err)
			default:
			}
			if err := EndGroup(map[string]string{"pids": base}, id+"x"); err != nil {
				t.Error(err)
			}
			<-ended[1]
			if err := EndGroup(map[string]string{"pids": base}, id); err != nil {
				t.Errorf("nothing is left: %v", err)
			}
		})
	}
}
