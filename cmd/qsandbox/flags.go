package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// policyFlags are the flags that make a policy; run, plan, explain and policy share them.
type policyFlags struct {
	policy    string
	workspace string
	backend   string
	mode      string
	network   string
	writable  []string
	timeout   time.Duration
}

func (f *policyFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.policy, "policy", "", "read the policy from `FILE` (JSON with comments)")
	fl.StringVar(&f.workspace, "workspace", "", "the `DIR` that may be written (default: the current directory)")
	fl.StringVar(&f.backend, "backend", "", "auto, linux-bwrap, linux-native, macos-seatbelt, windows-sandbox, docker or none")
	fl.StringVar(&f.mode, "mode", "", "strict, compat or permissive")
	fl.StringVar(&f.network, "network", "", "off, on or allow")
	fl.StringArrayVar(&f.writable, "writable", nil, "one more `PATH` that may be written; may be repeated")
	fl.DurationVar(&f.timeout, "timeout", 0, "end the command after this time, for example 90s")
}

// layers reads the policy file and turns the flags into the uppermost layer.
func (f *policyFlags) layers(fl *pflag.FlagSet) ([]policy.Layer, error) {
	flags, err := f.flagLayer(fl)
	if err != nil {
		return nil, err
	}
	workspace := ""
	if flags.Workspace != nil {
		workspace = *flags.Workspace
	}
	return qsandbox.Layers(f.policy, workspace, flags)
}

// flagLayer holds what was given on the command line, and nothing else.
func (f *policyFlags) flagLayer(fl *pflag.FlagSet) (policy.Layer, error) {
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}}
	for _, s := range []struct {
		name string
		set  func() error
	}{
		{"workspace", func() error { p, err := filepath.Abs(f.workspace); l.Workspace = &p; return err }},
		{"backend", func() error { v, err := policy.ParseBackend(f.backend); l.Backend = &v; return err }},
		{"mode", func() error { v, err := policy.ParseMode(f.mode); l.Mode = &v; return err }},
		{"network", func() error { v, err := policy.ParseNetworkMode(f.network); l.Network.Mode = &v; return err }},
		{"writable", func() error { l.Filesystem.Writable = absolute(f.writable); return nil }},
		{"timeout", func() error { l.Limits.Timeout = &f.timeout; return nil }},
	} {
		if !fl.Changed(s.name) {
			continue
		}
		if err := s.set(); err != nil {
			return l, fault.Wrap(fault.UsageInvalid, "read flag", "--"+s.name, err)
		}
	}
	return l, nil
}

// absolute takes paths from where the user stands, not from the workspace.
func absolute(paths []string) *[]string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = p
		if p != "" && !strings.HasPrefix(p, "~") {
			if abs, err := filepath.Abs(p); err == nil {
				out[i] = abs
			}
		}
	}
	return &out
}

// envFlags reads --env NAME=VALUE and --env NAME.
func envFlags(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, e := range list {
		k, v, ok := strings.Cut(e, "=")
		if k == "" {
			return nil, fault.New(fault.UsageInvalid, "read flag --env", e, "write NAME=VALUE, or NAME to pass a variable on")
		}
		if !ok {
			if v, ok = os.LookupEnv(k); !ok {
				continue
			}
		}
		out[k] = v
	}
	return out, nil
}
