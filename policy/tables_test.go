package policy

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write tables.go and the tables of docs/policy.md")

type dataFiles struct {
	credentials []Credential
	protected   struct {
		Protected []ProtectedName `json:"protected"`
		Review    []Review        `json:"review"`
	}
}

func readData(t *testing.T) dataFiles {
	t.Helper()
	var d dataFiles
	for name, v := range map[string]any{"credentials.json": &d.credentials, "protected.json": &d.protected} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return d
}

// TestTablesAreTheDataFiles keeps the compiled tables the same as the JSON files.
func TestTablesAreTheDataFiles(t *testing.T) {
	d := readData(t)
	var b bytes.Buffer
	b.WriteString("// Code generated from credentials.json and protected.json by \"go test ./policy -run Tables -update\". DO NOT EDIT.\n\npackage policy\n\n")
	table := func(name, typ, rows string) { fmt.Fprintf(&b, "var %s = []%s{\n%s}\n\n", name, typ, rows) }
	var rows strings.Builder
	for _, c := range d.credentials {
		fmt.Fprintf(&rows, "{%q, %q, %#v, %v, %q, %q},\n", c.Path, c.Kind, c.Platforms, c.RootOnly, c.Holds, c.Source)
	}
	table("credentialTable", "Credential", rows.String())
	rows.Reset()
	for _, p := range d.protected.Protected {
		fmt.Fprintf(&rows, "{%q, %q, %q, %q, %q, %q},\n", p.Name, p.Match, p.Scope, p.Kind, p.Runs, p.Source)
	}
	table("protectedTable", "ProtectedName", rows.String())
	rows.Reset()
	for _, r := range d.protected.Review {
		fmt.Fprintf(&rows, "{%q, %q},\n", r.Match, r.Runs)
	}
	table("reviewTable", "Review", rows.String())
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("tables.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, _ := os.ReadFile("tables.go"); !bytes.Equal(got, want) {
		t.Error("tables.go is not what the data files say: run go test ./policy -run Tables -update")
	}
}

func TestCredentialRows(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Credentials() {
		if c.Holds == "" || c.Source == "" {
			t.Errorf("%s: holds and source must be given", c.Path)
		}
		if formOf(c.Path) == relativePath || strings.HasPrefix(c.Path, "~/") && c.RootOnly {
			t.Errorf("%s: must be absolute, or in the home directory and not only for root", c.Path)
		}
		if (c.Kind == "glob") != HasMeta(c.Path) || !slices.Contains([]string{"file", "dir", "glob"}, c.Kind) {
			t.Errorf("%s: the kind %q does not fit", c.Path, c.Kind)
		}
		if _, bad := checkPathEntry(c.Path); bad != nil {
			t.Errorf("%s: %s", c.Path, bad.msg)
		}
		if len(c.Platforms) == 0 {
			t.Errorf("%s: no platform", c.Path)
		}
		for _, p := range c.Platforms {
			if !slices.Contains([]string{"linux", "darwin", "windows"}, p) {
				t.Errorf("%s: platform %q", c.Path, p)
			}
			if seen[p+c.Path] {
				t.Errorf("%s: twice for %s", c.Path, p)
			}
			seen[p+c.Path] = true
		}
	}
	for _, p := range []string{".ssh", ".aws", ".gnupg", ".netrc", ".config/gcloud", ".docker/config.json", ".kube", ".npmrc", ".pypirc", ".mozilla", ".config/google-chrome", ".claude/.credentials.json"} {
		if !seen["linux~/"+p] {
			t.Errorf("~/%s is not in the list", p) // FS-03
		}
	}
	for _, p := range []string{"/etc/shadow", "/etc/sudoers", "/etc/ssh/ssh_host_*_key"} {
		if !seen["linux"+p] {
			t.Errorf("%s is not in the list", p)
		}
	}
}

func TestProtectedRows(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Protected() {
		if names[p.Name] || p.Name == "" || path.Base(p.Name) != p.Name {
			t.Errorf("%q: the name is taken or no name", p.Name)
		}
		names[p.Name] = true
		if p.Runs == "" || p.Source == "" || p.Scope != "" && p.Scope != "home" || p.Kind != "file" && p.Kind != "dir" {
			t.Errorf("%s: incomplete: %+v", p.Name, p)
		}
		if _, err := Compile(p.Match); err != nil || isAbs(p.Match) || formOf(p.Match) == homePath {
			t.Errorf("%s: match %q must be a relative glob (%v)", p.Name, p.Match, err)
		}
	}
}

func TestProtectedMatch(t *testing.T) {
	for rel, want := range map[string]string{
		".git":                              "git-pointer",
		"a/b/.git":                          "git-pointer",
		".git/hooks":                        "git-hooks",
		".git/hooks/pre-commit":             "git-hooks",
		"bare.git/hooks/update":             "git-hooks",
		".git/config":                       "git-config",
		".git/config.worktree":              "git-config-worktree",
		".git/commondir":                    "git-commondir",
		".git/worktrees/w/gitdir":           "git-worktree-pointers",
		".git/modules/a/b/hooks/pre-commit": "git-module-hooks",
		".git/modules/a/config":             "git-module-config",
		".git/rebase-merge/git-rebase-todo": "git-rebase-todo",
		".git/worktrees/w/rebase-merge/git-rebase-todo": "git-rebase-todo",
		".git/rebase-apply/next":                        "git-rebase-apply",
		".bashrc":                                       "bash-start",
		".ssh/authorized_keys":                          "ssh-user",
		".config/autostart/x.desktop":                   "autostart",
		".config/systemd/user/x.service":                "systemd-user",
		"sub/.vscode/tasks.json":                        "vscode",
		".idea/workspace.xml":                           "idea",
		".mcp.json":                                     "mcp",
		".claude/settings.json":                         "claude",
		".claude/hooks/x.sh":                            "claude",
		".cursor/mcp.json":                              "cursor",
		".codex/config.toml":                            "codex",
		"sub/.qsandbox.json":                            "qsandbox-policy",
		// What ordinary work writes.
		".git/objects/ab/cdef": "", ".git/refs/heads/main": "", ".git/index": "", ".git/HEAD": "",
		".git/worktrees/w/HEAD": "", "src/main.go": "", ".gitignore": "", "Makefile": "", ".envrc": "",
		"hooks/pre-commit": "", "config": "", "docs/.bashrc": "", "AGENTS.md": "", ".github/workflows/ci.yml": "",
	} {
		got, ok := ProtectedMatch(rel, false)
		if got.Name != want || ok != (want != "") {
			t.Errorf("ProtectedMatch(%q) = %q, want %q", rel, got.Name, want)
		}
	}
	if _, ok := ProtectedMatch(".GIT/Hooks/x", false); ok {
		t.Error("case counts without fold")
	}
	if p, _ := ProtectedMatch(".GIT/Hooks/x", true); p.Name != "git-hooks" {
		t.Errorf("with fold, got %q", p.Name)
	}
}
