package mcpserver

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
)

// shell finds the shell that commands are given to, as the sandbox has it, and a plan
// for it, without starting anything.
func (s *Server) shell(ctx context.Context) (*qsandbox.Plan, error) {
	var first error
	for _, sh := range shells() {
		plan, err := qsandbox.PlanFor(ctx, qsandbox.Request{
			Layers: s.opt.Layers, Command: append(sh[:len(sh):len(sh)], "exit"), Cwd: s.opt.Cwd, Env: s.opt.Env, User: s.opt.User, Memory: &s.memory,
		}, qsandbox.PlanOptions{})
		if err == nil {
			s.sh = sh
			return plan, nil
		}
		if first == nil {
			first = err
		}
		if !errors.Is(err, fault.ErrCommandNotFound) && !errors.Is(err, fault.ErrCommandNotExecutable) {
			return nil, err
		}
	}
	return nil, first
}

// windowsShells: Git Bash, then PowerShell (MCP-01).
//
// SECURITY: never the bash.exe of System32 or WindowsApps, which PATH may have first:
// it runs commands in the Linux subsystem, which the sandbox does not cover. So Git
// Bash is named by its place, and only where Git installs it.
func windowsShells(getenv func(string) string, exists func(string) bool) [][]string {
	var out [][]string
	for _, root := range []string{getenv("ProgramFiles"), getenv("ProgramW6432"), getenv("ProgramFiles(x86)"), join(getenv("LOCALAPPDATA"), "Programs")} {
		for _, p := range []string{join(root, `Git\bin\bash.exe`), join(root, `Git\usr\bin\bash.exe`)} {
			if p != "" && exists(p) {
				out = append(out, []string{p, "-c"})
			}
		}
	}
	tail := []string{"-NoProfile", "-NonInteractive", "-Command"}
	if p := join(getenv("ProgramFiles"), `PowerShell\7\pwsh.exe`); p != "" && exists(p) {
		out = append(out, append([]string{p}, tail...))
	}
	if p := join(getenv("SystemRoot"), `System32\WindowsPowerShell\v1.0\powershell.exe`); p != "" {
		out = append(out, append([]string{p}, tail...))
	}
	return out
}

// join adds to a Windows path on any system; "" when there is no root.
func join(root, rest string) string {
	if root == "" {
		return ""
	}
	return strings.TrimRight(root, `\`) + `\` + rest
}

// shellName is how the client is told of the shell.
func shellName(sh []string) string {
	if len(sh) == 0 {
		return "shell"
	}
	name := sh[0][strings.LastIndexByte(sh[0], '\\')+1:]
	return strings.TrimSuffix(filepath.Base(name), ".exe")
}
