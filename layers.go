package qsandbox

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Bounds of a policy file.
const (
	maxPolicyFile = 1 << 20
	fileLimit     = 5 * time.Second // a hung file system must not freeze the caller
)

// Layers reads the policy layers of one run: the user's stored policy (if there is one),
// the file (if named), the workspace's own file (if there is one), and the flags on top
// (POL-13).
//
// SECURITY: a workspace file comes with untrusted code and may only narrow. So
// may a policy file that lies where the sandbox can write: the command of an
// earlier run could have written it.
func Layers(file, workspace string, flags policy.Layer) ([]policy.Layer, error) {
	h := host.Real()
	var out []policy.Layer
	stored, found, err := UserStore().Layer(context.Background())
	if err != nil {
		return nil, err
	}
	if found {
		out = append(out, stored)
	}
	if file != "" {
		l, err := readLayer(h, file)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	eff, err := policy.Merge(append(append([]policy.Layer{policy.BuiltIn()}, out...), flags)...)
	if err != nil {
		return nil, err
	}
	root, roots := writableRoots(h, eff.Policy)
	if file != "" && within(h, roots, file) {
		out[len(out)-1].NarrowOnly = true
	}
	if at := stored.Origin.Name; found && within(h, roots, at) {
		return nil, fault.New(fault.StoreFailed, "use the stored policy", at, "it lies where the command can write; name a narrower workspace, or keep it elsewhere ("+spec.StoreVariable+")")
	}
	ws := filepath.Join(root, policy.WorkspaceFile)
	if _, err := h.Lstat(ws); err == nil {
		l, err := readLayer(h, ws)
		if err != nil {
			return nil, err
		}
		l.Origin = policy.Origin{Kind: policy.OriginWorkspace, Name: ws}
		out = append(out, l)
	}
	return append(out, flags), nil
}

// readLayer reads one policy file of a person.
func readLayer(h host.Host, path string) (policy.Layer, error) {
	var data []byte
	err := h.Within(fileLimit, func() (err error) {
		data, err = h.ReadFile(path, maxPolicyFile)
		return err
	})
	if err != nil {
		hint := "it must be a regular file that can be read"
		if errors.Is(err, fs.ErrNotExist) {
			hint = "there is no such file"
		}
		return policy.Layer{}, fault.Wrap(fault.PolicyInvalid, "read policy", path, err).WithHint(hint)
	}
	return policy.Parse(path, data)
}

// writableRoots gives the workspace and all writable roots, as real paths.
func writableRoots(h host.Host, p policy.Policy) (workspace string, roots []string) {
	wd, _ := h.Getwd()
	workspace = resolve(h, p.Workspace, wd)
	roots = []string{workspace}
	for _, w := range p.Filesystem.Writable {
		roots = append(roots, resolve(h, policy.Unescape(w), workspace))
	}
	return workspace, roots
}

// resolve makes a plain path absolute, as Bind does, and follows its links.
func resolve(h host.Host, p, base string) string {
	abs := p
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		abs = filepath.Join(h.HomeDir(), p[1:])
	case !filepath.IsAbs(p):
		abs = filepath.Join(base, p)
	}
	abs = filepath.Clean(abs)
	if real, err := h.RealPath(abs); err == nil {
		return real
	}
	return abs
}

// within tells whether a file lies in one of the roots.
func within(h host.Host, roots []string, file string) bool {
	wd, _ := h.Getwd()
	real := resolve(h, file, wd)
	for _, r := range roots {
		if spec.Within(r, real) {
			return true
		}
	}
	return false
}

// PolicyFile reads one policy file that a person wrote. Errors: POLICY_INVALID.
func PolicyFile(path string) (policy.Layer, error) { return readLayer(host.Real(), path) }
