// Package native is the linux-native backend: our own namespaces and mounts,
// with nothing installed, as root and as an ordinary user (LNX-08).
package native

import (
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/linux"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Name is the backend's name.
const Name = "linux-native"

// Backend implements backend.Backend.
type Backend struct{ backend.Trial }

// Name gives "linux-native".
func (Backend) Name() string { return Name }

// Compile turns a spec into namespaces and mounts.
func (Backend) Compile(s *spec.Spec, sup backend.Support) (*plan.Plan, error) {
	p := plan.Base(Name, s)
	if s.Isolated() {
		p.Isolation = plan.Isolation{
			User: sup.UserNS, Mount: true, PID: true, UTS: true, IPC: true, Cgroup: true,
			Net: s.Policy.Network.Mode != policy.NetworkOn, PrivateMounts: true,
		}
		p.Mounts = plan.LinuxMounts(s)
	} else {
		p.Isolation.Direct = true
	}
	p.LinuxLimits(s, s.Isolated())
	p.LinuxRows(s)
	if err := linux.SecondLayer(p, s); err != nil {
		return nil, err
	}
	return backend.Finish(p, s)
}
