package winsandbox

import (
	"context"
	"os"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// firstConPTY is the build of Windows that has pseudo consoles (10, version 1809).
const firstConPTY = 17763

// onConsole gives the command a console of its own. Its size is that of ours, else
// 80 by 25. Not verified here: the emulator at hand does not connect it.
func (r *run) onConsole(ctx context.Context, s start) error {
	if v := windows.RtlGetVersion(); v.BuildNumber < firstConPTY {
		return fault.New(fault.LaunchFailed, "give a console to", r.program, "--tty needs Windows 10 version 1809 or later")
	}
	p, err := makePipes()
	if err != nil {
		return err
	}
	defer p.close()
	if err := windows.CreatePseudoConsole(consoleSize(), windows.Handle(p.child[0].Fd()), windows.Handle(p.child[1].Fd()), 0, &s.console); err != nil {
		return fault.Wrap(fault.LaunchFailed, "make a console for", r.program, err)
	}
	proc, _, err := spawn(s)
	if err != nil {
		windows.ClosePseudoConsole(s.console)
		return err
	}
	defer windows.CloseHandle(proc)
	p.child[0].Close()
	p.child[1].Close()
	go feed(p.ours[0], r.Stdin)
	done := make(chan struct{})
	go func() { drain(r.Stdout, p.ours[1]); close(done) }()
	err = r.wait(ctx, proc, s.job)
	windows.ClosePseudoConsole(s.console) // writes the last of the screen, and closes the pipe
	<-done
	return err
}

func consoleSize() windows.Coord {
	var i windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(os.Stdout.Fd()), &i) != nil {
		return windows.Coord{X: 80, Y: 25}
	}
	return windows.Coord{X: i.Window.Right - i.Window.Left + 1, Y: i.Window.Bottom - i.Window.Top + 1}
}
