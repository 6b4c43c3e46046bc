package seatbelt_test

import "github.com/qiming-sandbox/qsandbox/policy"

// situation is a policy to compare systems under.
type situation struct {
	name string
	mode policy.Mode
	edit func(*policy.Policy)
}

var situations = []situation{
	{"compat", policy.Compat, nil},
	{"strict", policy.Strict, nil},
	{"permissive", policy.Permissive, nil},
	{"network on", policy.Compat, func(p *policy.Policy) { p.Network.Mode = policy.NetworkOn }},
	{"a socket is listed", policy.Compat, func(p *policy.Policy) { p.Network.UnixSockets = []string{"/home/dev/agent.sock"} }},
	{"more writable", policy.Compat, func(p *policy.Policy) { p.Filesystem.Writable = []string{"/home/dev/other", "/home/dev/new"} }},
	{"hidden and read-only", policy.Compat, func(p *policy.Policy) {
		p.Filesystem.DenyRead = []string{"**/.env", "own.key", "sub/deep"}
		p.Filesystem.DenyWrite = []string{"vendor", "**/*.lock"}
	}},
	{"nested", policy.Compat, func(p *policy.Policy) {
		p.Filesystem.DenyRead = []string{"/home/dev/data/set", "/home/dev/data/set/open/rw/key"}
		p.Filesystem.Readable = []string{"/home/dev/data/set/open"}
		p.Filesystem.Writable = []string{"/home/dev/data/set/open/rw"}
	}},
	{"shown again", policy.Compat, func(p *policy.Policy) {
		p.Filesystem.Readable = []string{"/home/dev/.aws", "sub/.env"}
		p.Filesystem.DenyRead = []string{"**/.env"}
	}},
	{"protected names given free", policy.Compat, func(p *policy.Policy) { p.Filesystem.AllowProtected = []string{"vscode", "git-config"} }},
	{"a protected folder written down", policy.Compat, func(p *policy.Policy) { p.Filesystem.Writable = []string{"/home/dev/ws/.vscode"} }},
	{"a tool is listed", policy.Compat, func(p *policy.Policy) { p.Exec.StartupAllowlist = []string{"/home/dev/other/tool"} }},
}

// targets are the paths that are asked about under each situation, for reading,
// writing and executing.
var targets = []string{
	"/home/dev/ws", "/home/dev/ws/a.txt", "/home/dev/ws/new", "/home/dev/ws/new/er", "/home/dev/ws-x", "/home/dev/wsx/f", "/home/dev",
	"/home/dev/ws/.env", "/home/dev/ws/sub/.env", "/home/dev/ws/sub/new/.env", "/home/dev/ws/.env.d", "/home/dev/ws/sub/deep", "/home/dev/ws/sub/deep/f", "/home/dev/ws/own.key",
	"/home/dev/ws/vendor", "/home/dev/ws/vendor/x", "/home/dev/ws/vendor/patches/p", "/home/dev/ws/vendor/new", "/home/dev/ws/new.lock", "/home/dev/ws/sub/x.lock",
	"/home/dev/ws/bin/tool", "/home/dev/ws/a b/c\"d", "/home/dev/ws/sp ace/f",
	"/home/dev/ws/.git", "/home/dev/ws/.git/config", "/home/dev/ws/.git/hooks", "/home/dev/ws/.git/hooks/pre-commit", "/home/dev/ws/.git/hooks/new", "/home/dev/ws/.git/index", "/home/dev/ws/.git/objects/ab/cd",
	"/home/dev/ws/.vscode", "/home/dev/ws/.vscode/settings.json", "/home/dev/ws/.vscode/tasks.json", "/home/dev/ws/pkg/.idea/x.xml", "/home/dev/ws/.mcp.json",
	"/home/dev/other", "/home/dev/other/file", "/home/dev/other/tool", "/home/dev/other/new", "/home/dev/new", "/home/dev/new/f", "/home/dev/notes.txt",
	"/home/dev/.ssh", "/home/dev/.ssh/id_rsa", "/home/dev/.netrc", "/home/dev/.aws", "/home/dev/.aws/credentials", "/home/dev/.bashrc",
	"/home/dev/.local/state/qsandbox/journal/x", "/home/dev/.local/state/qsandbox/new", "/home/dev/.cache/qsandbox/other/f", "/home/dev/.cache/qsandbox/home+dev+ws/f",
	"/home/dev/data/set/1", "/home/dev/data/set/open", "/home/dev/data/set/open/2", "/home/dev/data/set/open/rw/3", "/home/dev/data/set/open/rw/key", "/home/dev/data/set/new",
	"/home/dev/tools/bin/mytool", "/home/dev/.nvm/versions/node", "/opt/homebrew/bin/rg", "/usr/local/bin/tool", "/usr/bin/make", "/usr/bin/env", "/usr/bin/new", "/bin/sh", "/usr/lib/dyld", "/sbin/ping", "/usr", "/etc/passwd", "/etc/new", "/",
}

// fresh are targets that only macOS can judge by name before they exist.
var fresh = []string{
	"/home/dev/ws/.cursor", "/home/dev/ws/.cursor/mcp.json", "/home/dev/ws/deep/er/.idea/x", "/home/dev/ws/.VSCode/tasks.json", "/home/dev/ws/x/.claude/settings.json", "/home/dev/ws/p.code-workspace", "/home/dev/ws/.qsandbox.json",
}

// connections are the hosts and sockets that are asked about.
var connections = []string{"example.com:443", "example.com", "10.0.0.1:80", "127.0.0.1:5432", "localhost:80", "[::1]:80", "/run/docker.sock", "/home/dev/agent.sock", "/home/dev/ws/made.sock"}
