package native

import (
	"context"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// Assume says that a start is worth trying on Linux.
func (Backend) Assume(h host.Host) (backend.Support, bool) {
	if h.GOOS != "linux" {
		return backend.Support{}, false
	}
	k := h.Kernel()
	if k.UserNS == host.No && h.User.UID != 0 {
		return backend.Support{}, false
	}
	return backend.Support{Available: true, UserNS: k.UserNS != host.No, PrivateMounts: true, NoNet: true}, true
}

// Probe builds a whole sandbox without starting a command in it (POL-07).
func (b Backend) Probe(ctx context.Context, h host.Host) (backend.Support, error) {
	if h.GOOS != "linux" {
		return backend.Support{Reason: "needs Linux", Remedy: "use the backend of this system"}, nil
	}
	k := h.Kernel()
	var last error
	for _, userNS := range []bool{true, false} {
		if !userNS && h.User.UID != 0 {
			break
		}
		if userNS && k.UserNS == host.No {
			continue
		}
		sup := backend.Support{Available: true, UserNS: userNS, PrivateMounts: true, NoNet: true}
		p, err := b.Compile(backend.ProbeSpec(h), sup)
		if err != nil {
			return backend.Support{}, err
		}
		if last = b.Try(ctx, p); last == nil {
			return sup, nil
		}
		if !b.Firm(last) {
			return backend.Support{}, last
		}
	}
	return refusal(h, k, last), nil
}

// refusal names the gate that is shut.
func refusal(h host.Host, k host.Kernel, err error) backend.Support {
	sup := backend.Support{Reason: "namespaces cannot be made here", Remedy: k.UserNSFix}
	if k.UserNSWhy != "" {
		sup.Reason = k.UserNSWhy
	}
	if err != nil {
		sup.Reason += " (" + err.Error() + ")"
	}
	if sup.Remedy == "" {
		sup.Remedy = "in a container, start it with --security-opt seccomp=unconfined and --security-opt systempaths=unconfined, or allow user namespaces; run qsandbox doctor for details"
	}
	return sup
}
