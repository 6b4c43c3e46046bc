package acpproxy

import (
	"slices"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Preset is what a known agent needs to talk to its model and to keep its settings.
// Nothing of it is there for the agent's terminals.
type Preset struct {
	Name      string
	dirs      []string // in the home directory, writable; made when missing
	files     []string // the same, when they are there: what the built-in list of credentials hides
	protected []string // names of policy/protected.json that dirs and files fall under
	env       []string // passed on when the caller has them
	hosts     []string
}

var presets = []Preset{
	{
		// https://code.claude.com/docs/en/settings, /network-config
		Name: "claude", dirs: []string{".claude"}, files: []string{".claude.json", ".claude/.credentials.json", ".claude/history.jsonl", ".claude/projects"}, protected: []string{"claude", "claude-user"},
		env:   []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CODE_OAUTH_TOKEN"},
		hosts: []string{"api.anthropic.com", "claude.ai", "platform.claude.com", "console.anthropic.com"},
	},
	{
		// https://developers.openai.com/codex/auth, /codex/config-reference
		Name: "codex", dirs: []string{".codex"}, files: []string{".codex/auth.json", ".codex/history.jsonl", ".codex/sessions"}, protected: []string{"codex"},
		env:   []string{"OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"},
		hosts: []string{"api.openai.com", "chatgpt.com", "auth.openai.com"},
	},
	{
		// https://github.com/google-gemini/gemini-cli/blob/main/docs/get-started/authentication.md
		Name: "gemini", dirs: []string{".gemini"}, files: []string{".gemini/oauth_creds.json", ".gemini/google_accounts.json", ".gemini/.env"}, protected: []string{"gemini"},
		env:   []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"},
		hosts: []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com", "aiplatform.googleapis.com"},
	},
}

// PresetNames lists them.
func PresetNames() []string {
	var out []string
	for _, p := range presets {
		out = append(out, p.Name)
	}
	return out
}

// PresetNamed gives a preset. The error is of code USAGE_INVALID.
func PresetNamed(name string) (Preset, error) {
	i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, fault.New(fault.UsageInvalid, "find preset", name, "known are claude, codex, gemini; any other agent runs with --agent-writable, --agent-env, --agent-network")
	}
	return presets[i], nil
}

// Apply enters a preset into a layer of flags. exists tells whether a path in the
// home directory is there.
func (p Preset) Apply(l *policy.Layer, exists func(string) bool) {
	var paths []string
	for _, d := range p.dirs {
		paths = append(paths, "~/"+d)
	}
	for _, f := range p.files {
		if exists(f) { // a missing path would be made, as a directory
			paths = append(paths, "~/"+f)
		}
	}
	mode := policy.NetworkAllow
	l.Filesystem.Writable, l.Filesystem.AllowProtected = &paths, &p.protected
	l.Env.Pass, l.Network.Mode, l.Network.Allow = &p.env, &mode, &p.hosts
}
