package probe

import (
	"slices"
	"testing"
)

// TestHarmless: what may run as the real root is nothing but calls of probes.
func TestHarmless(t *testing.T) {
	for script, want := range map[string]bool{
		`"$PROBE" probe reboot` + "\n":                            true,
		`"$PROBE" probe swapon || "$PROBE" probe acct`:            true,
		`touch f && "$PROBE" probe trusted-xattr f`:               true,
		`"$PROBE" probe mknod "$WS/null"`:                         true,
		`[ -c "$WS/null" ]`:                                       true,
		`echo -900 > /proc/self/oom_score_adj`:                    true,
		`rm -rf /etc`:                                             false,
		`"$PROBE" probe reboot; rm x`:                             false,
		`"$PROBE" probe chmod /dev/null`:                          false,
		`"$PROBE" probe chown "$WS/../../x"`:                      false,
		"\"$PROBE\" probe reboot\nrm x":                           false,
		`"$PROBE" probe reboot $(rm x)`:                           false,
		`"$PROBE" probe kill "$HOSTPID"`:                          false,
		`"$PROBE" probe terminal sh`:                              false,
		`"$PROBE" probe terminal touch x`:                         false,
		`"$PROBE" probe memfd-exec "$WS/x"`:                       false,
		`"$PROBE" probe cell x`:                                   false,
		`"$PROBE" probe nosuchprobe`:                              false,
		`"$PROBE" probe reboot || "$PROBE" probe terminal reboot`: false,
		`"$PROBE" probe connect-unix "$OUT/s"`:                    false,
		`"$PROBE" probe socket-tipc`:                              false,
		"":                                                        false,
	} {
		if got := Harmless(script); got != want {
			t.Errorf("%q: %v", script, got)
		}
	}
}

// TestForRoot: what is said to be harmless is there, and runs nothing.
func TestForRoot(t *testing.T) {
	if !slices.IsSorted(forRoot) {
		t.Error("the list is not sorted")
	}
	for _, name := range forRoot {
		if slices.Contains([]string{"terminal", "cell", "memfd-exec", "list"}, name) {
			t.Errorf("%s runs what it is given", name)
		}
		if list := attempts(); len(list) > 0 && !slices.ContainsFunc(list, func(a attempt) bool { return a.name == name }) && !optional(name) {
			t.Errorf("there is no %s", name)
		}
	}
}

// optional are the probes of one processor.
func optional(name string) bool { return name == "iopl" || name == "ioperm" }
