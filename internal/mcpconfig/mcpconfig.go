// Package mcpconfig knows how MCP clients are told of a server, and how their own
// shell is switched off: a sandboxed tool beside an unconfined one protects nothing
// (MCP-04). It makes text and touches no file.
package mcpconfig

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Server is what a client has to start.
type Server struct {
	Command   string   // absolute path of qsandbox
	Args      []string // mcp and its flags
	Workspace string   // absolute; "" when the user named none
	Here      string   // the current directory, for clients that start servers anywhere
}

// Setup is what to do for one client.
type Setup struct {
	Client string   `json:"client"`
	Title  string   `json:"title"`
	Steps  []Step   `json:"steps"`
	Notes  []string `json:"notes"` // what is left open; a warning when the shell cannot be switched off
	Source string   `json:"source"`
}

// Step is one piece of text and where it belongs.
type Step struct {
	Purpose string `json:"purpose"` // "add the server", "switch its own shell off"
	Where   string `json:"where"`   // a file, or a terminal
	Format  string `json:"format"`  // json | toml | shell | markdown
	Text    string `json:"text"`
}

// Purposes of steps.
const (
	add       = "add the server"
	switchOff = "switch the client's own shell off"
	instead   = "or add it with the client's own command"
)

// Client is one that is known.
type Client struct {
	Name  string
	Title string
	make  func(Server) Setup
}

// Clients lists the clients that are known, by name.
func Clients() []Client {
	return []Client{
		{"claude-code", "Claude Code", claudeCode},
		{"claude-desktop", "Claude Desktop", claudeDesktop},
		{"codex", "Codex CLI", codex},
		{"cursor", "Cursor", cursor},
		{"gemini-cli", "Gemini CLI", gemini},
		{"vscode", "VS Code", vscode},
		{"zed", "Zed", zed},
	}
}

// For gives the setup of a client.
func (c Client) For(s Server) Setup {
	out := c.make(s)
	out.Client, out.Title = c.Name, c.Title
	return out
}

// in gives the arguments with a workspace: the one that the user named, else what the
// client should put there. "" leaves it to the directory that the client starts
// servers in.
func (s Server) in(workspace string) []string {
	if s.Workspace != "" {
		workspace = s.Workspace
	}
	args := append([]string{}, s.Args[0])
	if workspace != "" {
		args = append(args, "--workspace", workspace)
	}
	return append(args, s.Args[1:]...)
}

// pretty is JSON as people write it.
func pretty(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // of strings, lists and maps
	return b.String()
}

// compact is JSON on one line.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return strings.TrimRight(b.String(), "\n")
}

// toml is a basic string of TOML 1.0: JSON's, but for one more character.
func toml(s string) string { return strings.ReplaceAll(compact(s), "\x7f", `\u007F`) }

// shell quotes for a POSIX shell.
func shell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
