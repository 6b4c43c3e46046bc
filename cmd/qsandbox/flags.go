package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// policyFlags make a policy; run, plan, explain and policy show share them.
type policyFlags struct {
	policy    string
	workspace string
	backend   string
	mode      string
	network   string
	writable  []string
	timeout   time.Duration
}

func (f *policyFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.policy, "policy", "", "read the policy from `FILE` (JSON with comments)")
	fl.StringVar(&f.workspace, "workspace", "", "the `DIR` that may be written (default: the current directory)")
	fl.StringVar(&f.backend, "backend", "", "one of "+strings.Join(backendWords, ", "))
	fl.StringVar(&f.mode, "mode", "", "one of "+strings.Join(modeWords, ", "))
	fl.StringVar(&f.network, "network", "", "one of "+strings.Join(networkWords, ", "))
	fl.StringArrayVar(&f.writable, "writable", nil, "one more `PATH` that may be written; may be repeated")
	fl.DurationVar(&f.timeout, "timeout", 0, "end the command after this time, for example 90s; 0 is no limit")
	completeWords(cmd, "backend", backendWords)
	completeWords(cmd, "mode", modeWords)
	completeWords(cmd, "network", networkWords)
	completePaths(cmd, "policy", "workspace")
}

// commandFlags say how the command is started; run, plan and explain share them.
type commandFlags struct {
	cwd  string
	env  []string
	user string
}

func (f *commandFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.cwd, "cwd", "", "start in `DIR`, inside the workspace")
	fl.StringArrayVar(&f.env, "env", nil, "set `NAME=VALUE`, or pass NAME on from the caller; may be repeated")
	fl.StringVar(&f.user, "user", "", "as root: run as this `USER`")
	completePaths(cmd, "", "cwd")
}

// request puts flags and arguments together. On an error it has what there is so far.
func (f *commandFlags) request(fl changes, p *policyFlags, args []string) (req qsandbox.Request, err error) {
	req = qsandbox.Request{Command: args, Cwd: f.cwd, User: f.user}
	if req.Layers, err = p.layers(fl); err != nil {
		return req, err
	}
	req.Env, err = envFlags(f.env)
	return req, err
}

// layers reads the policy file and turns the flags into the uppermost layer.
func (f *policyFlags) layers(fl changes) ([]policy.Layer, error) {
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
func (f *policyFlags) flagLayer(fl changes) (policy.Layer, error) {
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}}
	for _, s := range []struct {
		name string
		set  func() error
	}{
		{"workspace", func() error { l.Workspace = &(*absolute([]string{f.workspace}))[0]; return nil }},
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
			return l, flagFault("--"+s.name, err)
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
				out[i] = policy.EscapeLiteral(filepath.ToSlash(abs)) // a policy has forward slashes, on Windows too
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

// flagFault says of a value's error which flag it is about, and keeps its hint.
func flagFault(flag string, err error) error {
	var e *fault.Error
	if errors.As(err, &e) && e.Err != nil {
		return fault.Wrap(fault.UsageInvalid, "read flag", flag, e.Err).WithHint(e.Hint)
	}
	return fault.Wrap(fault.UsageInvalid, "read flag", flag, err)
}
