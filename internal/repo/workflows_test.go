package repo

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func workflows(t testing.TB) []string {
	t.Helper()
	list := slices.DeleteFunc(files(t, ".yml"), func(f string) bool { return !strings.HasPrefix(f, ".github/workflows/") })
	if len(list) == 0 {
		t.Fatal("there are no workflows")
	}
	return list
}

// TestWorkflowsAreThere: each with what starts it.
func TestWorkflowsAreThere(t *testing.T) {
	want := map[string][]string{
		"sandbox-unit.yml":                {"pull_request", "push"},
		"sandbox-integration-unix.yml":    {"pull_request", "workflow_call"},
		"sandbox-integration-windows.yml": {"push", "workflow_call", "workflow_dispatch"},
		"sandbox-security-report.yml":     {"push", "schedule", "workflow_dispatch"},
	}
	for _, f := range workflows(t) {
		name := strings.TrimPrefix(f, ".github/workflows/")
		_, on, _ := strings.Cut(read(t, f), "\non:\n")
		on, _, _ = strings.Cut(on, "\npermissions:\n")
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^  ([a-z_]+):`).FindAllStringSubmatch(on, -1) {
			got = append(got, m[1])
		}
		if slices.Sort(got); !slices.Equal(got, want[name]) {
			t.Errorf("%s starts on %q, want %q", name, got, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is not there", name)
	}
}

// TestWorkflowsCallMakeTargets: a person can run what CI runs; each target is there,
// with its script.
func TestWorkflowsCallMakeTargets(t *testing.T) {
	makefile := read(t, "Makefile")
	_, phony, _ := strings.Cut(makefile, "\n.PHONY:")
	phony, _, _ = strings.Cut(phony, "\n")
	called := map[string]bool{}
	for _, f := range workflows(t) {
		for _, m := range regexp.MustCompile(`(?m)^\s+(?:- )?run: (?:sudo )?(?:env .*)?\bmake ([a-z-]+)$`).FindAllStringSubmatch(read(t, f), -1) {
			called[m[1]] = true
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(m[1]) + `:`).MatchString(makefile) {
				t.Errorf("%s calls make %s, which the Makefile does not have", f, m[1])
			}
		}
	}
	for _, target := range []string{"check", "unit", "verify", "report", "windows", "macos"} {
		if !called[target] {
			t.Errorf("no workflow calls make %s", target)
		}
	}
	for _, target := range strings.Fields(phony) {
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).MatchString(makefile) {
			t.Errorf("the Makefile says %s is a target, and has none", target)
		}
	}
	for _, m := range regexp.MustCompile(`\bscripts/[a-z0-9.-]+`).FindAllString(makefile, -1) {
		if !exists(m) {
			t.Errorf("the Makefile calls %s, which is not there", m)
		}
	}
}

// TestWorkflowsHaveLittleRights: SECURITY: a workflow reads the code and nothing else,
// leaves no token behind for what it runs, and has no text of a pull request in a shell.
func TestWorkflowsHaveLittleRights(t *testing.T) {
	for _, f := range workflows(t) {
		text := read(t, f)
		if strings.Count(text, "permissions:") != 1 || !strings.Contains(text, "\npermissions:\n  contents: read\n\n") {
			t.Errorf("%s has other permissions than to read the contents", f)
		}
		if strings.Count(text, "uses: actions/checkout@") != strings.Count(text, "persist-credentials: false") {
			t.Errorf("%s: a checkout keeps its token", f)
		}
		for _, bad := range []string{"pull_request_target", "workflow_run", "secrets"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", f, bad)
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^\s*(?:- )?uses: (\S+)`).FindAllStringSubmatch(text, -1) {
			if !regexp.MustCompile(`^(\./\.github/workflows/[a-z-]+\.yml|actions/[a-z-]+@v[0-9]+(\.[0-9]+)*)$`).MatchString(m[1]) {
				t.Errorf("%s uses %s: name an action of GitHub by its version", f, m[1])
			}
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "run: ") && strings.Contains(line, "${{") {
				t.Errorf("%s puts an expression into a shell: %s", f, strings.TrimSpace(line))
			}
		}
		if jobs, times := strings.Count(text, "runs-on:"), strings.Count(text, "timeout-minutes:"); jobs != times {
			t.Errorf("%s: %d jobs, %d with a timeout", f, jobs, times)
		}
	}
}
