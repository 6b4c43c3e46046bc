package spec

import (
	"fmt"
	"path/filepath"
)

// sockets hides the host's AF_UNIX sockets that are reachable by path, except
// those that the policy lists (LNX-07).
func (b *binder) sockets() error {
	if b.h.GOOS == "windows" || !b.s.Isolated() {
		return nil
	}
	allowed := b.eff.Policy.Network.UnixSockets
	for i, p := range allowed {
		field := fmt.Sprintf("network.unixSockets[%d]", i)
		r, err := b.resolve(field, p, b.s.Workspace.Path)
		if err != nil {
			return err
		}
		if err := b.trusted(field, r); err != nil {
			return err
		}
		if r.Kind == Missing {
			b.s.notice("socket:missing", "the socket "+r.Given+" of network.unixSockets does not exist now; it will not be reachable")
			continue
		}
		r.Access, r.Layer, r.Origin, r.Mount = Read, User, b.origin("network.unixSockets", p, field), true
		b.add(r)
	}
	if b.h.GOOS != "linux" {
		return nil // macOS denies every socket that no rule allows
	}
	list, err := b.h.Sockets()
	if err != nil {
		b.s.notice("socket:unlisted", "the kernel's list of sockets could not be read: "+err.Error())
	}
	for _, p := range append(list, b.h.Getenv("SSH_AUTH_SOCK"), b.h.Getenv("XDG_RUNTIME_DIR")) {
		if p != "" {
			b.hideSocket(p)
		}
	}
	return nil
}

// hideSocket hides one socket unless it is out of sight anyway.
func (b *binder) hideSocket(p string) {
	r, err := b.locate("socket", filepath.Clean(p))
	if err != nil || r.Kind == Missing {
		return
	}
	if under, ok := longest(b.best, r.Path); ok && under.Access <= Private {
		return // inside a hidden or private place
	}
	r.Access, r.Origin, r.Mount = Deny, "socket of the host", true
	b.add(r)
}
