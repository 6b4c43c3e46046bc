package launch

import (
	"os"
	"testing"
)

func TestFirstBelow(t *testing.T) {
	for _, c := range []struct {
		what, status  string
		first, ending bool
	}{
		{"an init", "State:\tS (sleeping)\nNSpid:\t4711\t1\nVmSize:\t 8 kB\n", true, false},
		{"two namespaces down", "State:\tT (stopped)\nNSpid:\t4711\t12\t1\nVmSize:\t 8 kB\n", true, false},
		{"ending", "State:\tS (sleeping)\nNSpid:\t4711\t1\n", true, true},
		{"a zombie", "State:\tZ (zombie)\nNSpid:\t4711\t1\n", false, false},
		{"another one inside", "State:\tS (sleeping)\nNSpid:\t4711\t7\nVmSize:\t 8 kB\n", false, false},
		{"the first of our own namespace", "State:\tS (sleeping)\nNSpid:\t1\nVmSize:\t 8 kB\n", false, false},
		{"a thread of the kernel", "State:\tI (idle)\nNSpid:\t12\n", false, false},
		{"a name that plays", "Name:\tNSpid: 1 1\nState:\tR (running)\nNSpid:\t9\nVmSize:\t 8 kB\n", false, false},
		{"nothing", "", false, false},
	} {
		if first, ending := firstBelow([]byte(c.status)); first != c.first || ending != c.ending {
			t.Errorf("%s: %v, %v", c.what, first, ending)
		}
	}
}

// TestNoInitOfOurs: nothing that runs here is taken for an init of a run that never was.
func TestNoInitOfOurs(t *testing.T) {
	if kind := kindOf(os.Getpid(), "run"); kind != initOfNone {
		t.Errorf("we are %v", kind)
	}
	for fd, kind := range initsOf("no-such-run") {
		if os.NewFile(uintptr(fd), "process").Close(); kind == initOfRun {
			t.Error("an init of a run that never was")
		}
	}
}
