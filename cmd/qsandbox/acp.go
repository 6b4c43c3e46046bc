package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/acpterm"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/acpproxy"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// acpFlags: the shared ones are about the terminals, those with "agent" about the agent.
type acpFlags struct {
	policyFlags
	user   string
	preset string
	agent  policyFlags // policy, network, writable
	env    []string
}

func newACP() *cobra.Command {
	f := &acpFlags{}
	cmd := &cobra.Command{
		Use:   "acp [flags] -- AGENT [ARG ...]",
		Short: "Stand between an editor and an agent (Agent Client Protocol)",
		Long: `Acp starts an agent in the sandbox and passes the Agent Client Protocol on
between it and the client that started qsandbox. What the agent asks to be run in
a terminal is run here, each command in a sandbox of its own.

There are two policies. The flags that run has are about the terminals;
--workspace, --backend, --mode and --user hold for the agent too. The flags that
begin with --agent are about the agent alone: what it needs to talk to its model
is not there for its commands.`,
		Example: `  qsandbox acp --agent-preset gemini -- gemini --acp
  qsandbox acp --agent-network on --agent-writable ~/.my-agent --agent-env MY_API_KEY -- my-agent
  qsandbox acp --policy terminals.json --agent-policy agent.json -- my-agent`,
		Args:              cobra.ArbitraryArgs,
		RunE:              func(cmd *cobra.Command, args []string) error { return runACP(cmd, f, args) },
		ValidArgsFunction: anyFile,
	}
	cmd.Flags().SetInterspersed(false)
	f.register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.user, "user", "", "as root: run agent and terminals as this `USER`")
	fl.StringVar(&f.preset, "agent-preset", "", "what a known agent needs: claude, codex, gemini")
	fl.StringVar(&f.agent.policy, "agent-policy", "", "read the agent's policy from `FILE`")
	fl.StringVar(&f.agent.network, "agent-network", "", "the agent's network: off, on, allow")
	fl.StringArrayVar(&f.agent.writable, "agent-writable", nil, "one more `PATH` that the agent may write; may be repeated")
	fl.StringArrayVar(&f.env, "agent-env", nil, "set `NAME=VALUE` for the agent, or pass NAME on; may be repeated")
	completeWords(cmd, "agent-network", networkWords)
	completeWords(cmd, "agent-preset", acpproxy.PresetNames())
	completePaths(cmd, "agent-policy")
	return cmd
}

func runACP(cmd *cobra.Command, f *acpFlags, args []string) error {
	if len(args) == 0 {
		return badUsage(cmd, "start an agent", "", "no agent was given")
	}
	terms, agent, err := f.requests(cmd.Flags(), args)
	if err != nil {
		qsandbox.Refused(agent, err)
		return err
	}
	tell := &teller{said: map[string]bool{}}
	memory := &qsandbox.Memory{} // agent and terminals are one session
	agent.Memory = memory
	opt := acpproxy.Options{
		Agent:     agent,
		Terminals: acpterm.Options{Layers: terms.Layers, User: f.user, Ended: tell.ended, Memory: memory},
		In:        os.Stdin, Out: os.Stdout, Stderr: os.Stderr, Remark: tell.once,
	}
	if exe, err := os.Executable(); err == nil {
		opt.Server = &acpproxy.ToolServer{Name: "qsandbox", Command: exe, Args: []string{"mcp"}}
	}
	ctx, stop := untilSignal(context.Background())
	defer stop()
	rep, err := acpproxy.Run(ctx, opt)
	remarks(rep, false)
	if err != nil {
		return err
	}
	if s, ok := context.Cause(ctx).(signalled); ok {
		return exitError(128 + int(s.sig))
	}
	if code := exitOf(rep.Exit); code != 0 {
		return exitError(code)
	}
	return nil
}

// requests makes the two policies.
func (f *acpFlags) requests(fl *pflag.FlagSet, args []string) (terms, agent qsandbox.Request, err error) {
	terms.User, agent.User, agent.Command = f.user, f.user, args
	if terms.Layers, err = f.layers(fl); err != nil {
		return terms, agent, err
	}
	flags, err := f.agentLayer(fl)
	if err != nil {
		return terms, agent, err
	}
	workspace := ""
	if flags.Workspace != nil {
		workspace = *flags.Workspace
	}
	if agent.Layers, err = qsandbox.Layers(f.agent.policy, workspace, flags); err != nil {
		return terms, agent, err
	}
	if agent.Env, err = envFlags(f.env); err != nil {
		return terms, agent, err
	}
	if err = narrowWhatOtherMayWrite(f.policy, terms.Layers, agent); err != nil {
		return terms, agent, err
	}
	if err = narrowWhatOtherMayWrite(f.agent.policy, agent.Layers, terms); err != nil {
		return terms, agent, err
	}
	_, err = qsandbox.EffectivePolicy(terms.Layers, qsandbox.HideValues) // a mistake is said now, not at the first terminal
	return terms, agent, err
}

// agentLayer is the uppermost layer of the agent.
func (f *acpFlags) agentLayer(fl *pflag.FlagSet) (policy.Layer, error) {
	l, err := f.flagLayer(fl)
	if err != nil {
		return l, err
	}
	l.Network, l.Filesystem, l.Limits = policy.LayerNetwork{}, policy.LayerFilesystem{}, policy.LayerLimits{}
	if f.preset != "" {
		p, err := acpproxy.PresetNamed(f.preset)
		if err != nil {
			return l, flagFault("--agent-preset", err)
		}
		p.Apply(&l, exists)
	}
	if fl.Changed("agent-network") {
		v, err := policy.ParseNetworkMode(f.agent.network)
		if err != nil {
			return l, flagFault("--agent-network", err)
		}
		l.Network.Mode = &v
	}
	if fl.Changed("agent-writable") {
		more := *absolute(f.agent.writable)
		if l.Filesystem.Writable != nil {
			more = append(more, *l.Filesystem.Writable...)
		}
		l.Filesystem.Writable = &more
	}
	all := policy.Size(0) // the protocol is the agent's output: a part of it is of no use
	l.Limits.Output = &all
	return l, nil
}

func exists(path string) bool {
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(home, path))
	return err == nil
}

// narrowWhatOtherMayWrite lets a policy file only narrow when the other side may write it.
//
// SECURITY: otherwise the agent could write the policy of its terminals for the next
// start, and the other way round (POL-13).
func narrowWhatOtherMayWrite(file string, layers []policy.Layer, other qsandbox.Request) error {
	if file == "" {
		return nil
	}
	if !filepath.IsAbs(file) {
		wd, err := os.Getwd()
		if err != nil {
			return fault.Wrap(fault.PolicyInvalid, "read policy", file, err)
		}
		file = wd + string(filepath.Separator) + file // not cleaned: a ".." may follow a link
	}
	other.Command = nil
	v, err := qsandbox.Explain(other, qsandbox.OpWrite, file)
	if err != nil {
		return err
	}
	if !acpproxy.OnHost(v) {
		return nil
	}
	for i, l := range layers { // the stored policy may lie below it
		if l.Origin.Kind == policy.OriginFile {
			layers[i].NarrowOnly = true
		}
	}
	return nil
}

// teller shows what people must know of many commands: each thing once.
type teller struct {
	mu   sync.Mutex
	said map[string]bool
}

// mostSaid bounds what an agent can have us say.
const mostSaid = 200

func (t *teller) once(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.said[text] && len(t.said) < mostSaid {
		t.said[text] = true
		remark(text)
	}
}

// ended tells about a terminal's command: notices, and what is certain.
func (t *teller) ended(_ string, rep *report.Report, _ error) {
	if rep == nil {
		return
	}
	for _, n := range rep.Notices {
		t.once("terminal: " + n.Text)
	}
	for _, d := range rep.Denials {
		if d.Certain {
			t.once("terminal: " + denialText(d))
		}
	}
}
