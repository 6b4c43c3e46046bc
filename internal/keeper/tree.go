//go:build darwin || linux

package keeper

import (
	"sync"
	"syscall"
	"time"
)

// proc is one line of the process list.
type proc struct {
	pid, ppid, pgid int
	start           string // when it was started: a number alone comes again
	gone            bool   // ended, but not waited for
	name            string
}

// tree is what descends from the command, as far as it was seen.
type tree struct {
	mu   sync.Mutex
	list func() ([]proc, error) // the system's process list
	kill func(pid int, sig syscall.Signal) error
	seen map[int]string // pid -> start
	self int
}

func newTree(root int) *tree {
	t := &tree{list: processes, kill: syscall.Kill, seen: map[int]string{}, self: syscall.Getpid()}
	t.mu.Lock()
	defer t.mu.Unlock()
	list, _ := t.list()
	for _, p := range list {
		if p.pid == root {
			t.seen[root] = p.start
		}
	}
	if t.seen[root] == "" {
		t.seen[root] = "?" // it was too quick; its children are still told by their group
	}
	return t
}

// look goes through the process list and gives those of the tree that are alive.
// A process belongs to it when its parent or its group does.
func (t *tree) look() []proc {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, err := t.list()
	if err != nil {
		return nil
	}
	byPID := map[int]proc{}
	for _, p := range list {
		byPID[p.pid] = p
	}
	for pid, start := range t.seen {
		// A number that another process has now is none of ours.
		if p, ok := byPID[pid]; ok && start != "?" && p.start != start {
			delete(t.seen, pid)
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range list {
			if t.seen[p.pid] == "" && p.pid != t.self && (t.seen[p.ppid] != "" || t.seen[p.pgid] != "" && byPID[p.pgid].pid != t.self) {
				t.seen[p.pid], grown = p.start, true
			}
		}
	}
	var out []proc
	for _, p := range list {
		if t.seen[p.pid] != "" && !p.gone && p.pid != t.self {
			out = append(out, p)
		}
	}
	return out
}

// signal sends a signal to all of the tree and tells how many there were.
//
// SECURITY: a number is only signalled right after the list said that it is still
// the process that was seen.
func (t *tree) signal(sig syscall.Signal) int {
	list := t.look()
	for _, p := range list {
		_ = t.kill(p.pid, sig)
	}
	return len(list)
}

// end kills until nobody is left. A process that forks faster than it is found is
// stopped first, so that the rounds come to an end.
func (t *tree) end() {
	for round := range 200 {
		if round < 50 {
			t.signal(syscall.SIGSTOP)
		}
		if t.signal(syscall.SIGKILL) == 0 {
			return
		}
		time.Sleep(time.Duration(min(round, 10)) * time.Millisecond)
	}
}

// nameOf gives the name of a process's image, "" when it cannot be told.
func nameOf(pid int) string {
	list, _ := processes()
	for _, p := range list {
		if p.pid == pid {
			return p.name
		}
	}
	return ""
}
