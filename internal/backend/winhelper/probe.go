package winhelper

import (
	"context"
	"errors"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// needed are the capabilities that Compile's command lines use (WIN-11).
var needed = []string{"audit", "deny-write", "pass-env", "processes", "protected-caller", "resize", "serve-write-restricted", "timeout"}

// Probe finds the helper beside our own program, asks for its version, and lets it run
// itself in its sandbox: that makes the token and reads it back as a run does.
func (b Backend) Probe(ctx context.Context, h host.Host) (backend.Support, error) {
	if h.GOOS != "windows" {
		return backend.Support{Reason: "needs Windows"}, nil
	}
	if b.Beside == nil || b.Program == nil {
		return backend.Support{Reason: "this build cannot start the helper"}, nil
	}
	path := b.Beside(helpercmd.HelperName + ".exe")
	if !h.Exists(path) {
		return backend.Support{Reason: helpercmd.HelperName + ".exe is not beside qsandbox.exe", Remedy: "install both from one release into one directory"}, nil
	}
	out, err := b.Program(ctx, path, "version", "--json")
	if err != nil {
		return backend.Support{}, fault.Wrap(fault.HelperProtocol, "ask for the version", path, err)
	}
	v, err := helpercmd.ParseVersion([]byte(out), needed...)
	if err != nil {
		return backend.Support{Reason: err.Error(), Remedy: "install both programs from one release"}, nil
	}
	sup := backend.Support{Path: path, Version: v.Version}
	return b.try(ctx, sup, path)
}

// try runs the helper inside the sandbox that it makes.
func (b Backend) try(ctx context.Context, sup backend.Support, path string) (backend.Support, error) {
	c := helpercmd.Command{Sub: helpercmd.Run, Mode: policy.ReadOnly, Cwd: dirOf(path), Policy: helpercmd.Policy{Type: policy.ReadOnly, Mode: policy.Compat}, Argv: []string{path, "version", "--json"}}
	out, runErr := b.Program(ctx, path, c.Args()...)
	r, err := helpercmd.ParseResult([]byte(out))
	switch {
	case err != nil:
		return backend.Support{}, errors.Join(err, runErr)
	case r.Error != nil && r.Error.Code == string(fault.SandboxUnavailable):
		sup.Reason, sup.Remedy = r.Error.Message, "run outside other sandboxes, on Windows 10 or later"
		return sup, nil
	case r.Error != nil || r.ExitCode != 0:
		return backend.Support{}, fault.New(fault.SandboxUndetermined, "try the sandbox", path, "the helper ended with an error of its own: "+out)
	}
	if _, err := helpercmd.ParseVersion([]byte(r.Stdout)); err != nil {
		return backend.Support{}, err
	}
	sup.Available = true
	return sup, nil
}

// dirOf cuts the last part off a Windows path.
func dirOf(p string) string {
	for i := len(p) - 1; i > 2; i-- {
		if p[i] == '\\' || p[i] == '/' {
			return p[:i]
		}
	}
	return p
}
