package mcpconfig

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// nasty has what breaks quoting in JSON, TOML and a shell.
const nasty = "/w/it's \"a\" \\ b\n$(x) `y` <é>\x7f"

func server(workspace string) Server {
	return Server{Command: "/usr/local/bin/qsandbox", Args: []string{"mcp", "--network", "off"}, Workspace: workspace, Here: "/home/u/here"}
}

// TestEveryClientSwitchesItsShellOffOrWarns is MCP-04.
func TestEveryClientSwitchesItsShellOffOrWarns(t *testing.T) {
	for _, c := range Clients() {
		set := c.For(server(""))
		off, added, warned := false, false, false
		for _, s := range set.Steps {
			off = off || s.Purpose == switchOff
			added = added || s.Purpose == add
		}
		for _, n := range set.Notes {
			warned = warned || strings.HasPrefix(n, "WARNING: ")
		}
		if !added || !off && !warned || set.Source == "" || set.Title == "" || set.Client != c.Name {
			t.Errorf("%s: added %v, switched off %v, warned %v, %+v", c.Name, added, off, warned, set)
		}
	}
}

// TestTextIsRight: what is printed can be pasted, whatever the paths are.
func TestTextIsRight(t *testing.T) {
	for _, c := range Clients() {
		for _, workspace := range []string{"", "/w", nasty} {
			found := workspace == ""
			for _, s := range c.For(server(workspace)).Steps {
				var v any
				switch s.Format {
				case "json":
					if err := json.Unmarshal([]byte(s.Text), &v); err != nil {
						t.Errorf("%s, %s: %v in %s", c.Name, s.Purpose, err, s.Text)
					}
				case "shell":
					v = words(t, s.Text)
				case "toml":
					v = s.Text
					if workspace != "" && strings.Contains(s.Text, toml(workspace)) {
						found = true
					}
				}
				found = found || contains(v, workspace)
			}
			if !found {
				t.Errorf("%s does not pass %q on", c.Name, workspace)
			}
		}
	}
}

// contains looks for a string in a value of JSON.
func contains(v any, want string) bool {
	switch v := v.(type) {
	case string:
		return v == want
	case []any:
		for _, e := range v {
			if contains(e, want) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if contains(e, want) {
				return true
			}
		}
	}
	return false
}

// words lets a real shell split a command, and reads its last word as JSON.
func words(t *testing.T, command string) any {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	program, rest, _ := strings.Cut(strings.TrimRight(command, "\n"), " ")
	cmd := exec.Command(sh, "-c", "show "+rest)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "show"), []byte("#!/bin/sh\nfor a; do last=$a; done\nprintf %s \"$last\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd.Env = []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	var v any
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return v
}

// TestWorkspaceOfTheClient: clients that start servers anywhere are given one.
func TestWorkspaceOfTheClient(t *testing.T) {
	for name, want := range map[string]string{"claude-desktop": "/home/u/here", "zed": "/home/u/here", "vscode": "${workspaceFolder}", "cursor": "${workspaceFolder}", "claude-code": "", "codex": "", "gemini-cli": ""} {
		for _, c := range Clients() {
			if c.Name != name {
				continue
			}
			text := c.For(server("")).Steps[0].Text
			if got := strings.Contains(text, "--workspace"); got != (want != "") || !strings.Contains(text, want) {
				t.Errorf("%s: want workspace %q in %s", name, want, text)
			}
		}
	}
}

func TestTOML(t *testing.T) {
	if got, want := toml("a\"b\\c\n\x7f<"), `"a\"b\\c\n\u007F<"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
