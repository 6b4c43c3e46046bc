package bwrap

import (
	"context"
	"io/fs"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// places are where bwrap is looked for.
//
// SECURITY: never in PATH: a request or the workspace could choose it.
var places = []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

// find gives the first bwrap that only root can have put there.
func find(h host.Host) (path, why string) {
	for _, p := range places {
		st, err := h.Stat(p)
		if err != nil {
			continue
		}
		if st.UID != 0 || st.Mode.Perm()&0o022 != 0 {
			why = p + " could be changed by others than root"
			continue
		}
		if st.Mode&fs.ModeSetuid != 0 {
			why = p + " is setuid; use a bubblewrap without it"
			continue
		}
		return p, ""
	}
	if why == "" {
		why = "bubblewrap is not installed"
	}
	return "", why
}

// Assume says that a start is worth trying where bwrap is there.
func (Backend) Assume(h host.Host) (backend.Support, bool) {
	if h.GOOS != "linux" {
		return backend.Support{}, false
	}
	path, _ := find(h)
	k := h.Kernel()
	if path == "" || k.UserNS == host.No {
		return backend.Support{}, false
	}
	return backend.Support{Available: true, Path: path, UserNS: true, PrivateMounts: true, NoNet: true}, true
}

// Probe builds a whole sandbox without starting a command in it (POL-07). It
// tries with and without a mount namespace around bwrap, and for root with and
// without a user namespace.
func (b Backend) Probe(ctx context.Context, h host.Host) (backend.Support, error) {
	if h.GOOS != "linux" {
		return backend.Support{Reason: "needs Linux", Remedy: "use the backend of this system"}, nil
	}
	path, why := find(h)
	if path == "" {
		return backend.Support{Reason: why, Remedy: "install it (Debian, Ubuntu: apt-get install bubblewrap) or use --backend linux-native"}, nil
	}
	help, err := b.Program(ctx, path, "--help")
	if err != nil {
		return backend.Support{}, err
	}
	if !strings.Contains(help, "--bind-fd") {
		return backend.Support{Reason: path + " is too old: it has no --bind-fd (0.8 with Debian's fixes is the lowest version tried)", Remedy: "upgrade bubblewrap or use --backend linux-native"}, nil
	}
	version, _ := b.Program(ctx, path, "--version")
	return b.attempt(ctx, h, backend.Support{Available: true, Path: path, Version: strings.TrimPrefix(strings.TrimSpace(version), "bubblewrap "), NoNet: true})
}

func (b Backend) attempt(ctx context.Context, h host.Host, sup backend.Support) (backend.Support, error) {
	k := h.Kernel()
	var last error
	for _, v := range []struct{ userNS, private bool }{{true, true}, {true, false}, {false, true}} {
		if !v.userNS && h.User.UID != 0 || v.userNS && k.UserNS == host.No {
			continue
		}
		sup.UserNS, sup.PrivateMounts = v.userNS, v.private
		p, err := b.Compile(backend.ProbeSpec(h), sup)
		if err != nil {
			return backend.Support{}, err
		}
		if last = b.Try(ctx, p); last == nil {
			return sup, nil
		}
	}
	// bwrap says only in words why it failed; the native backend's probe has the errno.
	if last != nil && shortage(last.Error()) {
		return backend.Support{}, last
	}
	reason := "bwrap cannot build a sandbox here"
	if k.UserNSWhy != "" {
		reason = k.UserNSWhy
	}
	if last != nil {
		reason += " (" + last.Error() + ")"
	}
	return backend.Support{Path: sup.Path, Version: sup.Version, Reason: reason, Remedy: k.UserNSFix}, nil
}

// shortage recognises in bwrap's words what says nothing about the machine's abilities.
//
// SECURITY: libc's words begin with a capital letter, Go's do not; a miss here
// would turn a shortage into a run without a sandbox (POL-05).
func shortage(text string) bool {
	text = strings.ToLower(text)
	for _, w := range []string{"resource temporarily unavailable", "cannot allocate memory", "no space left", "too many open files", "file table overflow", "no answer within", "deadline", "canceled"} {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
