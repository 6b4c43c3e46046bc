package qsandbox

import (
	"context"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// DiagnosisVersion is the version of the JSON form of Diagnosis.
const DiagnosisVersion = 1

// Answer is what a look at the machine gave.
type Answer string

// The answers (POL-07).
const (
	AnswerYes     Answer = "yes"
	AnswerNo      Answer = "no"
	AnswerUnknown Answer = "could not tell"
)

// Diagnosis says what this machine can do.
type Diagnosis struct {
	Version  int             `json:"version"`
	Platform string          `json:"platform"` // GOOS/GOARCH
	User     PlanUser        `json:"user"`
	Auto     string          `json:"auto"`                 // the backend that auto chooses; "" when it fails
	AutoWhy  string          `json:"auto_error,omitempty"` // why it fails
	Backends []BackendAnswer `json:"backends"`
	Features []Feature       `json:"features"`
}

// BackendAnswer is a probe's answer for one backend.
type BackendAnswer struct {
	Name       string `json:"name"`
	Answer     Answer `json:"answer"`
	Reason     string `json:"reason,omitempty"` // of a no, or of an answer that could not be had
	Remedy     string `json:"remedy,omitempty"`
	Program    string `json:"program,omitempty"` // behind the backend
	ProgramVer string `json:"program_version,omitempty"`
	Detail     string `json:"detail,omitempty"` // what it goes without
	ProbeMS    int64  `json:"probe_ms"`
}

// Feature is one thing of the system that the backends build on.
type Feature struct {
	Name   string `json:"name"`
	Answer Answer `json:"answer"`
	Value  string `json:"value,omitempty"`
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// probeLimit bounds one backend's probe.
const probeLimit = 15 * time.Second

// Doctor asks every backend of every system whether it can be used here, by
// building a sandbox where it can, and looks at what the kernel offers. It leaves
// nothing behind. Backend "none" is not asked: it is no sandbox.
func Doctor(ctx context.Context) (*Diagnosis, error) {
	h := host.Real()
	d := &Diagnosis{
		Version: DiagnosisVersion, Platform: h.GOOS + "/" + h.GOARCH,
		User: PlanUser{Name: h.User.Name, UID: h.User.UID, GID: h.User.GID},
	}
	asked := map[string]probed{}
	for b := policy.LinuxBwrap; b < policy.None; b++ {
		p, answer := askBackend(ctx, h, b.String())
		if p.Backend != nil {
			asked[b.String()] = p
		}
		d.Backends = append(d.Backends, answer)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.chooseAuto(ctx, h, asked)
	d.Features = features(h, asked)
	return d, nil
}

// probed is a backend whose probe has been made already.
type probed struct {
	backend.Backend
	support backend.Support
	err     error
}

// Probe gives the answer that was had.
func (p probed) Probe(context.Context, host.Host) (backend.Support, error) { return p.support, p.err }

// askBackend probes one backend.
func askBackend(ctx context.Context, h host.Host, name string) (probed, BackendAnswer) {
	a := BackendAnswer{Name: name, Answer: AnswerNo, Reason: "not part of this build"}
	b := backendNamed(name)
	if b == nil {
		return probed{}, a
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	began := time.Now()
	sup, err := b.Probe(ctx, h)
	a.ProbeMS = time.Since(began).Milliseconds()
	a.Reason, a.Remedy, a.Program, a.ProgramVer = sup.Reason, sup.Remedy, sup.Path, sup.Version
	switch {
	case err != nil:
		a.Answer, a.Reason = AnswerUnknown, err.Error()
		a.Remedy = "try again when the machine has processes, memory and descriptors to spare"
	case sup.Available:
		a.Answer, a.Detail = AnswerYes, lacks(sup)
	}
	return probed{b, sup, err}, a
}

// lacks says what an available backend goes without here.
func lacks(s backend.Support) string {
	switch {
	case !s.UserNS && !s.PrivateMounts:
		return "without a user namespace; mounts made later on the host may appear inside"
	case !s.UserNS:
		return "without a user namespace"
	case !s.PrivateMounts:
		return "mounts made later on the host may appear inside"
	}
	return ""
}

// chooseAuto asks the chooser, with the probes' answers at hand.
func (d *Diagnosis) chooseAuto(ctx context.Context, h host.Host, asked map[string]probed) {
	var list []backend.Backend
	for _, p := range asked {
		list = append(list, p)
	}
	c, err := backend.Chooser{Backends: list, Host: h, Probing: true}.Choose(ctx, policy.Default())
	if err != nil {
		d.AutoWhy = err.Error()
		return
	}
	d.Auto = c.Backend.Name()
}
