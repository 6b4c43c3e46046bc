package winsandbox

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestSizesReachTheConsole(t *testing.T) {
	var got []Size
	broken := false
	f := follower{last: Size{80, 25}, resize: func(s Size) error {
		if broken {
			return errors.New("no")
		}
		got = append(got, s)
		return nil
	}}
	for _, s := range []Size{{80, 25}, {100, 30}, {100, 30}, {0, 30}, {30, -1}} {
		f.to(s)
	}
	if !slices.Equal(got, []Size{{100, 30}}) {
		t.Errorf("%v", got)
	}
	broken = true
	f.to(Size{1, 1})
	broken = false
	f.to(Size{1, 1}) // tried again, since it did not take
	if len(got) != 2 {
		t.Errorf("%v", got)
	}
	f.stop()
	f.to(Size{9, 9})
	if len(got) != 2 {
		t.Error("a console that is closed was resized")
	}
}

func TestLookAtTheSize(t *testing.T) {
	seen := make(chan Size, 8)
	f := follower{resize: func(s Size) error { seen <- s; return nil }}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		f.look(done, func() (Size, bool) { return Size{90, 20}, true })
		close(ended)
	}()
	select {
	case s := <-seen:
		if s != (Size{90, 20}) {
			t.Error(s)
		}
	case <-time.After(10 * time.Second):
		t.Error("nobody looked")
	}
	close(done)
	<-ended
}
