package conformance

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/qiming-sandbox/qsandbox"
)

// sessionScript answers each line with the session's own word in front.
const sessionScript = `while read -r line; do echo "$1 $line"; done`

// withChild leaves a process behind that nobody waits for.
const withChild = `sleep 600 & ` + sessionScript

// opener is a sandbox that can be held: this product.
type opener interface {
	open(ctx context.Context, k call) (*opened, error)
}

// opened is a session that is alive, as a server of terminals has it.
type opened struct {
	own   string
	input io.WriteCloser
	said  *answers
	wait  func() inside
	stop  func()
}

// open starts a session through the path that servers take.
func (product) open(ctx context.Context, k call) (*opened, error) {
	in, said := &inside{}, newAnswers()
	k.out = said
	req, err := k.request(in, nil)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	req.Stdin = r
	s, err := qsandbox.Start(ctx, req)
	if err != nil {
		w.Close()
		return nil, err
	}
	return &opened{input: w, said: said, stop: s.Stop, wait: func() inside {
		in.ended(s.Wait())
		r.Close()
		return *in
	}}, nil
}

// answers takes a session's output line by line.
type answers struct {
	mu    sync.Mutex
	part  []byte
	lines chan string
}

// mostAnswers is how many lines may wait to be read: there is one for each question.
const mostAnswers = 64

func newAnswers() *answers { return &answers{lines: make(chan string, mostAnswers)} }

func (a *answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range p {
		if b != '\n' {
			a.part = append(a.part, b)
			continue
		}
		select {
		case a.lines <- string(a.part):
		default: // nobody asked for so many: the next question finds a wrong answer
		}
		a.part = a.part[:0]
	}
	return len(p), nil
}

// open opens a session with a word of its own.
func (d *driver) open(own, script string) (*opened, error) {
	box, ok := d.t.box.(opener)
	if !ok {
		return nil, fmt.Errorf("this sandbox has no sessions")
	}
	s, err := box.open(d.ctx, d.call(own, script))
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", own, err)
	}
	s.own = own
	return s, nil
}

// ask sends a line, and wants the session's own answer to it.
func (d *driver) ask(s *opened, line string) error {
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(s.input, line+"\n")
		sent <- err
	}()
	timer := time.NewTimer(d.c.limit())
	defer timer.Stop()
	select {
	case got := <-s.said.lines:
		if want := s.own + " " + line; got != want {
			return fmt.Errorf("session %s answered %q, wanted %q", s.own, got, want)
		}
		return <-sent
	case <-d.ctx.Done():
		s.input.Close()
		return fmt.Errorf("session %s: %w", s.own, context.Cause(d.ctx))
	case <-timer.C:
		s.input.Close()
		return fmt.Errorf("session %s gave no answer to %q within %v", s.own, line, d.c.limit())
	}
}

// parting is how a session is released.
type parting uint8

const (
	byItself parting = iota // its input ends
	stopped                 // TERM, then KILL
)

// release ends a session, and waits until all of it is gone.
func (d *driver) release(s *opened, how parting) error {
	if how == stopped {
		s.stop()
	}
	s.input.Close()
	hung := time.AfterFunc(d.c.limit(), s.stop)
	in := s.wait()
	if !hung.Stop() {
		return fmt.Errorf("session %s did not end within %v", s.own, d.c.limit())
	}
	if err := d.sound(in); err != nil {
		return fmt.Errorf("session %s: %w", s.own, err)
	}
	if how == byItself && (in.code != 0 || in.signal != "") {
		return fmt.Errorf("session %s ended with code %d signal %q", s.own, in.code, in.signal)
	}
	if rest := string(s.said.part); strings.TrimSpace(rest) != "" || len(s.said.lines) > 0 {
		return fmt.Errorf("session %s said more than it was asked: %q", s.own, rest)
	}
	return nil
}

// round makes a session, asks it, and releases it; every second one by force, and every
// third leaves a process inside.
func (d *driver) round(i int) error {
	script := sessionScript
	if i%3 == 0 {
		script = withChild
	}
	s, err := d.open(fmt.Sprint("round", i), script)
	if err != nil {
		return err
	}
	if err := d.ask(s, fmt.Sprint("hello", i)); err != nil {
		_ = d.release(s, stopped)
		return err
	}
	return d.release(s, parting(i%2))
}
