package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/conformance/probe"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestEmbeddedCases: every case can be read, and there are as many as promised.
func TestEmbeddedCases(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, c := range all {
		switch {
		case strings.HasPrefix(c.ID, "LX-ESC-"):
			count["escape"]++
		case strings.HasPrefix(c.ID, "LX-"):
			count["linux"]++
		}
		count[strings.SplitN(c.ID, "-", 2)[0]]++
		if c.Policy != "" {
			text := os.Expand(c.Policy, func(string) string { return "/nonexistent/place" })
			if _, err := policy.Parse(c.File, []byte(text)); err != nil {
				t.Error(err)
			}
		}
		for name, script := range map[string]string{"command": c.Command, "twin": c.Twin, "control": c.Control} {
			if strings.Contains(script, "$S1-$S2") && name == "twin" {
				t.Errorf("%s: the twin speaks of the secret", c.ID)
			}
		}
	}
	for what, least := range map[string]int{"linux": 80, "escape": 120, "FB": 7, "WN": 9 + 12, "MC": 10, "DK": 5, "MIG": 12, "USER": 4, "ENV": 3, "CONC": 3, "LEAK": 3, "SOAK": 2} {
		if count[what] < least {
			t.Errorf("%d cases of %s, wanted %d", count[what], what, least)
		}
	}
	t.Logf("%d cases: %v", len(all), count)
}

// TestLoad: a directory of the user's, with its mistakes told by file.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil {
		t.Error("an empty directory was accepted")
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("LX-X-01.case", sound)
	put("notes.txt", "no case")
	if list, err := Load(dir); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	put("other.case", sound)
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "name the file after its id") {
		t.Errorf("%v", err)
	}
}

// harmful are commands that would change the machine itself if a sandbox let them.
// A case tries the same right in a way that does nothing when it works.
var harmful = []string{`\bumount (-\S+ )*/`, `\bmount (-\S+ )*(-o remount\S*|proc proc /)`, `kill -[A-Z0-9]+ -1`, `kill -[A-Z0-9]+ 1\b`, `chmod [0-7]+ /(proc|etc|usr|dev)`, `\b(rm|mv) (-\S+ )*/(proc|etc|usr|dev|sys)\b`,
	`[^>]> ?/(proc/sys|etc|sys|usr)`, `\breboot\b[^"]*$`, `\bsysctl -w`}

// guarded is how a case makes sure that it is in a process namespace of its own.
const guarded = `"$PROBE" probe alone "$HOSTPID" || exit 1` + "\n"

// TestNoCaseHarmsTheMachine: what a case does must be harmless where nothing stops
// it: another sandbox may be none, and a control runs outside.
func TestNoCaseHarmsTheMachine(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, script := range []string{c.Command, c.Twin, c.Control, c.Setup, c.Effect, c.After, c.Requires} {
			if probe.Harmless(script) {
				continue
			}
			for _, h := range harmful {
				if m := regexp.MustCompile(h).FindString(script); m != "" && !strings.HasPrefix(script, guarded) {
					t.Errorf("%s: %q would change the machine", c.ID, m)
				}
			}
		}
	}
}

// TestNoModuleIsAskedFor: a kind of socket that the kernel may have as a module is
// tried only where it is loaded; a case that goes on without asking loads it.
func TestNoModuleIsAskedFor(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	always := []string{"inet", "unix", "raw", "netlink-route"} // no kernel that runs this is without them
	kind := regexp.MustCompile(`probe socket-([a-z$-]+)`)
	n := 0
	for _, c := range all {
		for _, script := range []string{c.Command, c.Twin, c.Control, c.Requires} {
			for _, m := range kind.FindAllStringSubmatch(script, -1) {
				if slices.Contains(always, m[1]) {
					continue
				}
				if n++; !strings.Contains(c.Requires, "probe registered "+m[1]) {
					t.Errorf("%s: socket-%s is tried, and its section requires does not ask whether it is loaded", c.ID, m[1])
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d kinds were found", n)
	}
}

// TestTwinsShowSomething: a twin that works anywhere shows nothing, and what must be
// denied is not written as something that works.
func TestTwinsShowSomething(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if !slices.Contains(c.Platforms, "linux") || c.Skip != "" || c.Driver != "" {
			continue
		}
		if c.Want == Denied && strings.TrimSpace(c.Twin) == "true" {
			t.Errorf("%s: the twin is plain true", c.ID)
		}
		if last := strings.TrimSpace(c.Command); c.Want == Works && last != "true" && (strings.HasSuffix(last, "; true") || strings.HasSuffix(last, "|| true")) {
			t.Errorf("%s: the command works whatever happens", c.ID)
		}
	}
}

// TestNoTwoCasesAreTheSame: two cases that try the same thing in the same circumstances
// count one protection twice. What they expect and how they are explained is no difference.
func TestNoTwoCasesAreTheSame(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for _, c := range all {
		if c.Driver != "" || c.Skip != "" {
			continue
		}
		key := strings.Join(strings.Fields(fmt.Sprint(c.Platforms, c.backends(c.Platforms[0]), c.modes(), c.As, c.With, orOff(c.Network), c.Terminal, strconv.Quote(c.Workspace), c.Cwd, c.Runs, c.Policy, c.Setup, c.Command, c.Stdin, c.After)), " ")
		if other := first[key]; other != "" {
			t.Errorf("%s and %s try the same", other, c.ID)
		}
		first[key] = c.ID
	}
	if len(first) < 300 {
		t.Errorf("only %d cases were compared", len(first))
	}
}
