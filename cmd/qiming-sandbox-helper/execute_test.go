package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// call runs one command line in this process.
func call(in string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = execute(args, streams{strings.NewReader(in), &o, &e})
	return code, o.String(), e.String()
}

// TestCommandLine: what can be said wrong, and how it is answered, on every system.
func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		in   string // in stdout or stderr
	}{
		{"", 125, "usage:"},
		{"help", 0, "usage:"},
		{"launch", 125, "there are run, serve, acl, version"},
		{"version", 0, "qiming-sandbox-helper"},
		{"version --yaml", 125, "--json"},
		{"acl", 125, "list or revoke"},
		{"acl show", 125, "list or revoke"},
		{"acl revoke --now", 125, "--all"},
		{"acl list --home", 125, "--home"},
		{"run", 125, "--mode"},
		{"serve", 125, "--mode"},
		{"serve --mode read-only --cwd x", 125, "no command"},
		{"run --mode workspace-write --cwd x --policy-json nonsense -- true", 125, "POLICY_INVALID"},
		{"serve --mode workspace-write --cwd x --policy-json nonsense -- true", 125, "preset"},
		{"run --mode read-only --cwd relative -- true", 125, "PATH_INVALID"},
	} {
		code, out, errs := call("", strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out+errs, c.in) {
			t.Errorf("%s: %d %q %q", c.args, code, out, errs)
		}
		if strings.HasPrefix(c.args, "run") {
			if r, err := helpercmd.ParseResult([]byte(out)); err != nil || r.Error == nil || r.ExitCode != code {
				t.Errorf("%s: the answer %q is no JSON object with an error: %v", c.args, out, err)
			}
		}
		if strings.HasPrefix(c.args, "serve") && out != "" {
			t.Errorf("%s: words of ours on the command's output: %q", c.args, out)
		}
	}
}

// TestVersionIsOneThatACallerTakes: WIN-11.
func TestVersionIsOneThatACallerTakes(t *testing.T) {
	code, out, _ := call("", "version", "--json")
	if v, err := helpercmd.ParseVersion([]byte(out), helpercmd.CapabilitiesOf(host.Real().GOOS)...); code != 0 || err != nil {
		t.Errorf("%+v %v", v, err)
	}
}

// TestReportMustBeNew: FS-10, nothing that is there is written to.
func TestReportMustBeNew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call("", "serve", "--mode", "read-only", "--cwd", t.TempDir(), "--report", file, "--", "true")
	if data, _ := os.ReadFile(file); code != 125 || string(data) != "mine" || !strings.Contains(errs, "not there yet") {
		t.Errorf("%d %q %q", code, data, errs)
	}
}

func TestListsAreAnObject(t *testing.T) {
	code, out, errs := call("", "acl", "list", "--home", filepath.Join(t.TempDir(), "home"))
	var a aclAnswer
	if err := json.Unmarshal([]byte(out), &a); code != 0 || err != nil || a.Entries == nil || len(a.Entries) != 0 {
		t.Errorf("%d %q %q %v", code, out, errs, err)
	}
}
