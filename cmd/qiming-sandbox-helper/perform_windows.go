package main

import (
	"context"
	"io/fs"
	"os"
	"os/signal"
	"strconv"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
	"github.com/qiming-sandbox/qsandbox/internal/winsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// perform runs a command in the sandbox of package winsandbox.
func perform(ctx context.Context, c helpercmd.Command, s streams) (outcome, error) {
	roots, err := rootsOf(c)
	if err != nil {
		return outcome{}, err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	out, errs := limited(s.out, c.Output), limited(s.err, c.Output)
	req := winsandbox.Request{
		Home: c.Home, Cwd: c.Cwd, Roots: roots, ReadOnly: c.Mode == policy.ReadOnly, DenyWrite: c.DenyWrite, AuditAll: c.Audit == "enforce", PassEnv: c.PassEnv,
		Timeout: c.Timeout, Memory: c.Memory, Processes: c.Processes, CPUs: c.CPUs, TTY: c.TTY, Argv: c.Argv, Stdin: s.in, Stdout: out, Stderr: errs,
	}
	if c.TTY {
		req.Size = winsandbox.Size(c.Size)
		if req.Sizes, err = changes(c.Sizes); err != nil {
			return outcome{}, err
		}
	}
	if !c.WriteRestricted() {
		req.Restriction = winsandbox.Unrestricted
	}
	switch {
	case c.Policy.Mode == policy.Permissive:
		req.NewNames = winsandbox.NewNamesLeft
	case c.NewNames == "caller":
		req.NewNames = winsandbox.NewNamesCallers
	}
	if c.Policy.Network {
		req.Network = winsandbox.NetworkOn
	}
	o, err := winsandbox.Run(ctx, req)
	return outcome{o.Code, o.TimedOut, out.cut || errs.cut, o.Rows, o.Notices, o.Denials}, err
}

// changes reads sizes from an inherited pipe; nil without one.
func changes(handle uintptr) (<-chan winsandbox.Size, error) {
	if handle == 0 {
		return nil, nil
	}
	pipe := os.NewFile(handle, "sizes")
	if fi, err := pipe.Stat(); err != nil || fi.Mode()&fs.ModeNamedPipe == 0 {
		return nil, fault.New(fault.UsageInvalid, "read --sizes", strconv.FormatUint(uint64(handle), 10), "it is no pipe that this process has inherited")
	}
	out := make(chan winsandbox.Size)
	go func() {
		defer close(out)
		defer pipe.Close()
		_ = helpercmd.Sizes(pipe, func(s helpercmd.Size) { out <- winsandbox.Size(s) }) // a bad line ends it: the size stays
	}()
	return out, nil
}

// rootsOf gives the writable roots: of a preset the helper's own directory; of strict
// the first alone (WIN-03); of read-only none.
func rootsOf(c helpercmd.Command) ([]string, error) {
	roots := c.Policy.WritableRoots
	switch {
	case c.Mode == policy.ReadOnly:
		return nil, nil
	case c.Policy.Preset:
		wd, err := os.Getwd()
		if err != nil {
			return nil, fault.Wrap(fault.PathInvalid, "use the current directory", "", err)
		}
		roots = []string{wd}
	case c.Policy.Mode == policy.Strict && len(roots) > 1:
		roots = roots[:1]
	}
	return roots, nil
}

// lists shows or removes our entries.
func lists(w aclWish) (aclAnswer, error) {
	if !w.revoke {
		list, err := winsandbox.Entries(w.home)
		return aclAnswer{Entries: list}, err
	}
	done, failed, err := winsandbox.Revoke(w.home, w.all)
	a := aclAnswer{Entries: done}
	for p, e := range failed {
		a.Failed = append(a.Failed, aclFailure{p, e.Error()})
	}
	return a, err
}
