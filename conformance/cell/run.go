package cell

import (
	"os/exec"
	"runtime"
)

// Run runs a command that Command gave, to its end.
//
// A cell is ended with the thread that made it, not with the program (PR_SET_PDEATHSIG,
// prctl(2)), and threads of this program do end: those of a sandbox's guard, which the
// runtime takes from those that others have used. So the goroutine keeps its thread.
func Run(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
