package denylog

import (
	"bufio"
	"io"
	"os/exec"
	"sync"
	"time"
)

// Program streams the log of macOS (log(1)).
const Program = "/usr/bin/log"

// Args ask for the lines of the sandbox alone.
func Args() []string {
	return []string{"stream", "--style", "ndjson", "--predicate", `processID == 0 AND senderImagePath CONTAINS "/Sandbox.kext/"`}
}

// maxEntries bounds what a command that is refused without end can make us keep.
const maxEntries = 2000

// Source is where refusals are had from.
type Source interface {
	// Stop ends it and gives what came; more says that there was more than is kept. It
	// waits for lines that are on their way until none has come for quiet.
	Stop(quiet time.Duration) (list []Entry, more bool)
}

type stream struct {
	cmd  *exec.Cmd
	out  io.ReadCloser
	done chan struct{}

	mu   sync.Mutex
	list []Entry
	more bool
	last time.Time // when a line came
}

// Start starts a program that writes lines of the log.
func Start(program string, args ...string) (Source, error) {
	s := &stream{cmd: exec.Command(program, args...), done: make(chan struct{})}
	s.cmd.Env = []string{}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.out = out
	go s.read(out)
	return s, nil
}

func (s *stream) read(out io.Reader) {
	defer close(s.done)
	in := bufio.NewReaderSize(out, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			_, err = in.ReadString('\n') // the rest of a line that is no message of ours
			line = nil
		}
		if e, ok := Parse(line); ok {
			s.keep(e)
		}
		if err != nil {
			return
		}
	}
}

func (s *stream) keep(e Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	if len(s.list) == maxEntries {
		s.more = true
		return
	}
	s.list = append(s.list, e)
}

// Stop implements Source.
func (s *stream) Stop(quiet time.Duration) ([]Entry, bool) {
	asked := time.Now()
	for step := quiet / 10; step > 0; {
		s.mu.Lock()
		since := time.Since(later(asked, s.last))
		s.mu.Unlock()
		if since >= quiet || time.Since(asked) > 5*quiet {
			break
		}
		select {
		case <-s.done:
			step = 0
		case <-time.After(step):
		}
	}
	_ = s.cmd.Process.Kill()
	_ = s.out.Close() // somebody else may hold the other end
	<-s.done
	_ = s.cmd.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list, s.more
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Of gives the entries of some processes, each thing once, in order.
func Of(list []Entry, pids []int) []Entry {
	ours := map[int]bool{}
	for _, p := range pids {
		ours[p] = true
	}
	type key struct{ op, target string }
	seen := map[key]bool{}
	var out []Entry
	for _, e := range list {
		k := key{e.Operation, e.Target}
		if ours[e.PID] && !seen[k] {
			seen[k] = true
			out = append(out, e)
		}
	}
	return out
}
