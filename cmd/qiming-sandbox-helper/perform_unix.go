//go:build !windows

package main

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// perform runs a command in this system's own sandbox (WIN-12).
func perform(ctx context.Context, c helpercmd.Command, s streams) (outcome, error) {
	if c.TTY {
		return outcome{}, fault.New(fault.UsageInvalid, "serve", "--tty", "on this system use qsandbox run --tty")
	}
	layer, err := layerOf(c)
	if err != nil {
		return outcome{}, err
	}
	if c.Home != "" {
		if !filepath.IsAbs(c.Home) { // XDG_STATE_HOME would be ignored
			return outcome{}, fault.New(fault.PathInvalid, "use --home", c.Home, "name an absolute path")
		}
		if err := os.Setenv("XDG_STATE_HOME", c.Home); err != nil {
			return outcome{}, fault.Wrap(fault.UsageInvalid, "use --home", c.Home, err)
		}
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	rep, err := qsandbox.Run(ctx, qsandbox.Request{Layers: []policy.Layer{layer}, Command: c.Argv, Cwd: c.Cwd, Stdin: s.in, Stdout: s.out, Stderr: s.err})
	o := outcome{rows: rep.Enforcement, notices: rep.Notices, denials: rep.Denials}
	if err != nil || rep.Exit == nil {
		return o, err
	}
	o.code, o.timedOut, o.truncated = rep.Exit.Code, rep.Exit.Cause == report.TimedOut, rep.Exit.Truncated
	if o.timedOut || rep.Exit.Cause == report.MemoryLimit || rep.Exit.Cause == report.CPULimit {
		o.code = helpercmd.ExitTimeout
	}
	return o, nil
}

// layerOf writes the command line as a policy of qsandbox.
func layerOf(c helpercmd.Command) (policy.Layer, error) {
	roots, err := rootsOf(c)
	if err != nil {
		return policy.Layer{}, err
	}
	if err := checkDenied(c.DenyWrite, roots); err != nil {
		return policy.Layer{}, err
	}
	workspace, more := roots[0], roots[1:]
	fs := map[string]any{"writable": escaped(more), "denyWrite": escaped(c.DenyWrite)}
	if c.Mode == policy.ReadOnly {
		fs["denyWrite"] = append(escaped(c.DenyWrite), policy.EscapeLiteral(workspace))
	}
	network := "off"
	if c.Policy.Network {
		network = "on"
	}
	limits := map[string]any{}
	for k, v := range map[string]any{"processes": c.Processes, "cpus": c.CPUs, "memory": c.Memory, "output": c.Output} {
		if v != 0 && v != 0.0 && v != int64(0) {
			limits[k] = v
		}
	}
	if c.Timeout > 0 {
		limits["timeout"] = c.Timeout.String()
	}
	text, err := json.Marshal(map[string]any{
		"version": 1, "mode": c.Policy.Mode, "workspace": workspace, "filesystem": fs, "network": map[string]any{"mode": network},
		"env": map[string]any{"pass": append([]string{}, c.PassEnv...), "allowHooks": hooks(c.PassEnv)}, "limits": limits,
	})
	if err != nil {
		return policy.Layer{}, err
	}
	return policy.Parse("the helper's command line", text)
}

// rootsOf gives the workspace, which holds the directory to start in, and the other
// roots. Strict has the first root alone (WIN-03).
func rootsOf(c helpercmd.Command) ([]string, error) {
	cwd, err := real("--cwd", c.Cwd)
	if err != nil {
		return nil, err
	}
	if c.Mode == policy.ReadOnly {
		return []string{cwd}, nil
	}
	given := c.Policy.WritableRoots
	if c.Policy.Preset {
		wd, err := os.Getwd()
		if err != nil {
			return nil, fault.Wrap(fault.PathInvalid, "use the current directory", "", err)
		}
		given = []string{wd}
	}
	if c.Policy.Mode == policy.Strict && len(given) > 1 {
		given = given[:1]
	}
	var roots []string
	for _, g := range given {
		r, err := real("writable_roots", g)
		if err != nil {
			return nil, err
		}
		roots = append(roots, r)
	}
	i := slices.IndexFunc(roots, func(r string) bool { return r == cwd || strings.HasPrefix(cwd, strings.TrimSuffix(r, "/")+"/") })
	if i < 0 {
		return nil, fault.New(fault.PathOutsideWorkspace, "use --cwd", c.Cwd, "it lies in none of the writable roots "+strings.Join(roots, ", ")+"; the directory to start in opens nothing by itself")
	}
	return append([]string{roots[i]}, slices.Delete(slices.Clone(roots), i, i+1)...), nil
}

// checkDenied: --deny-write names absolute paths, and no root itself. What is not there yet
// is kept from being made.
func checkDenied(denied, roots []string) error {
	for _, p := range denied {
		if !filepath.IsAbs(p) {
			return fault.New(fault.PathInvalid, "use --deny-write", p, "name an absolute path")
		}
		if r, err := filepath.EvalSymlinks(p); err == nil && slices.Contains(roots, r) {
			return fault.New(fault.PolicyInvalid, "keep --deny-write", p, "it is one of the writable roots; leave it out of one of the two")
		}
	}
	return nil
}

func real(field, p string) (string, error) {
	if !filepath.IsAbs(p) {
		return "", fault.New(fault.PathInvalid, "use "+field, p, "name an absolute path")
	}
	r, err := filepath.EvalSymlinks(p)
	if err != nil {
		return "", fault.Wrap(fault.PathInvalid, "use "+field, p, err).WithHint("name a directory that is there")
	}
	return r, nil
}

func escaped(paths []string) []string {
	out := []string{}
	for _, p := range paths {
		out = append(out, policy.EscapeLiteral(p))
	}
	return out
}

// hooks are the named variables that make programs load code: to name one here is the
// policy's word for it (VAR-02).
func hooks(names []string) []string {
	out := []string{}
	for _, n := range names {
		if policy.IsHook(n) {
			out = append(out, n)
		}
	}
	return out
}

// lists: this system's sandboxes add nothing to any list.
func lists(aclWish) (aclAnswer, error) { return aclAnswer{}, nil }
