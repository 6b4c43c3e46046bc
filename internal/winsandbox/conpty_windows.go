package winsandbox

import (
	"context"
	"os"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// firstConPTY is the build of Windows that has pseudo consoles (10, version 1809).
const firstConPTY = 17763

// onConsole gives the command a console of its own, which has the size that the caller
// tells, else that of ours, and follows its changes. Not verified here: the emulator at
// hand does not connect it.
func (r *run) onConsole(ctx context.Context, s start) error {
	if v := windows.RtlGetVersion(); v.BuildNumber < firstConPTY {
		return fault.New(fault.LaunchFailed, "give a console to", r.program, "--tty needs Windows 10 version 1809 or later")
	}
	size := r.Size
	if size == (Size{}) {
		size = startSize()
	}
	p, err := makePipes()
	if err != nil {
		return err
	}
	defer p.close()
	if err := windows.CreatePseudoConsole(coord(size), windows.Handle(p.child[0].Fd()), windows.Handle(p.child[1].Fd()), 0, &s.console); err != nil {
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
	f := &follower{last: size, resize: func(to Size) error { return windows.ResizePseudoConsole(s.console, coord(to)) }}
	ended := make(chan struct{})
	go r.follow(f, ended)
	err = r.wait(ctx, proc, s.job)
	close(ended)
	f.stop()
	windows.ClosePseudoConsole(s.console) // writes the last of the screen, and closes the pipe
	<-done
	return err
}

// follow passes changes of size on: the caller's, else those of our own console.
func (r *run) follow(f *follower, ended <-chan struct{}) {
	if r.Sizes == nil {
		f.look(ended, ownSize)
		return
	}
	for {
		select {
		case s, more := <-r.Sizes:
			if !more {
				return
			}
			f.to(s)
		case <-ended:
			return
		}
	}
}

func coord(s Size) windows.Coord { return windows.Coord{X: s.Cols, Y: s.Rows} }

func startSize() Size {
	if s, ok := ownSize(); ok {
		return s
	}
	return Size{80, 25}
}

// ownSize is the size of the window on our own console.
func ownSize() (Size, bool) {
	var i windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(os.Stdout.Fd()), &i) != nil {
		return Size{}, false
	}
	return Size{i.Window.Right - i.Window.Left + 1, i.Window.Bottom - i.Window.Top + 1}, true
}
