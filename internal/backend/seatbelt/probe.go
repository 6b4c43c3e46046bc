package seatbelt

import (
	"context"
	"errors"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// find looks at the program that applies profiles: only root may be able to change it.
func find(h host.Host) (why string) {
	st, err := h.Stat(Program)
	switch {
	case err != nil:
		return Program + " is not there"
	case st.UID != 0 || st.Mode.Perm()&0o022 != 0:
		return Program + " could be changed by others than root"
	}
	return ""
}

// Assume says that a start is worth trying where the program is there.
func (Backend) Assume(h host.Host) (backend.Support, bool) {
	if h.GOOS != "darwin" || find(h) != "" {
		return backend.Support{}, false
	}
	return backend.Support{Available: true, Path: Program, Version: h.Kernel().Release, PrivateMounts: true, UserNS: true}, true
}

// Probe starts a program of the system in a sandbox such as a run has (POL-07).
func (b Backend) Probe(ctx context.Context, h host.Host) (backend.Support, error) {
	if h.GOOS != "darwin" {
		return backend.Support{Reason: "needs macOS", Remedy: "use the backend of this system"}, nil
	}
	if why := find(h); why != "" {
		return backend.Support{Reason: why, Remedy: "it is a part of macOS; repair the system"}, nil
	}
	if b.Try == nil {
		return backend.Support{}, errors.New("this build cannot start anything here")
	}
	p, err := b.Compile(backend.ProbeSpec(h), backend.Support{Available: true})
	if err != nil {
		return backend.Support{}, err
	}
	if err := b.Try(ctx, p); err != nil {
		if !b.Firm(err) {
			return backend.Support{}, err
		}
		return backend.Support{Path: Program, Reason: "no sandbox can be applied here (" + err.Error() + ")",
			Remedy: "a process that is in a sandbox already cannot make another one: start qsandbox outside of it"}, nil
	}
	sup, _ := b.Assume(h)
	return sup, nil
}
