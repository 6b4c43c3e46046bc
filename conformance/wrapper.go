package conformance

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// wrapper is another sandbox, named by a command template.
type wrapper struct{ words []string }

//go:embed templates
var templates embed.FS

// Template reads a command template: words as a shell would split them (quotes and
// backslashes, nothing else), in which {ws} {out} {bin} {home} {cwd} stand for the
// case's paths and the word {command} for the command's own words. "@bwrap" is one
// of those that come with the program.
func Template(text string) ([]string, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		data, err := templates.ReadFile(path.Join("templates", name+".template"))
		if err != nil {
			return nil, fault.New(fault.UsageInvalid, "read template", text, "there are "+strings.Join(TemplateNames(), ", "))
		}
		text = ""
		for line := range strings.Lines(string(data)) {
			if !strings.HasPrefix(line, "#") {
				text += line
			}
		}
	}
	words, err := splitWords(text)
	if err != nil {
		return nil, fault.Wrap(fault.UsageInvalid, "read template", text, err)
	}
	if len(words) < 2 || !slices.Contains(words, "{command}") {
		return nil, fault.New(fault.UsageInvalid, "read template", text, "the word {command} must stand where the command goes")
	}
	return words, nil
}

// installed is Template for use: without the program there is nothing to judge, and a
// list of failures would say that there was.
func installed(text string) ([]string, error) {
	words, err := Template(text)
	if err != nil || strings.Contains(words[0], "{") {
		return words, err
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, fault.Wrap(fault.SandboxUnavailable, "find the sandbox of template", text, err).WithHint("install " + words[0] + ", or name its path in the template")
	}
	return words, nil
}

// blind are programs that cannot be judged in a cell, with the reason.
var blind = map[string]string{
	"firejail": "firejail takes the throw-away environment for a sandbox, and runs the command without one of its own",
}

// TemplateNames lists the templates that come with the program.
func TemplateNames() []string {
	var out []string
	entries, _ := templates.ReadDir("templates")
	for _, e := range entries {
		if n, ok := strings.CutSuffix(e.Name(), ".template"); ok {
			out = append(out, "@"+n)
		}
	}
	return out
}

// splitWords splits as a shell does, with quotes and backslashes; no expansion.
func splitWords(s string) ([]string, error) {
	var out []string
	var word strings.Builder
	in, quote := false, rune(0)
	escaped := false
	for _, r := range s {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\n' || r == '\t':
			if in {
				out = append(out, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote or a backslash at the end is open")
	}
	if in {
		out = append(out, word.String())
	}
	return out, nil
}

// cannot: a template has no way to be told a policy of the case's own.
func (w wrapper) cannot(c *Case) string {
	if why := blind[path.Base(w.words[0])]; why != "" {
		return why
	}
	switch {
	case c.Runs == onTheHost:
		return "about qsandbox's own commands"
	case c.Policy != "":
		return "the template is not told this case's policy"
	case orOff(c.Network) != "off":
		return "the template has the network off"
	case c.Want == Refused || c.Event != "" || c.Backend != "" || c.Cwd != "":
		return "about qsandbox itself"
	case c.own():
		return "about your own policy for qsandbox"
	case !slices.Contains(c.modes(), "compat"):
		return "about the mode " + strings.Join(c.modes(), " or ") + "; a template is judged as compat"
	case slices.Equal(c.Backends, []string{"none"}):
		return "about running without a sandbox"
	case c.Driver != "" && c.Driver != driveRuns:
		return "about a program that holds sandboxes through qsandbox's library; a template is one command"
	case c.Judges != "" || c.Shown != "":
		return "others are tried in a cell, which has its own of what this is about"
	}
	return ""
}

// signals gives the number of a signal with which cases end.
func signals(name string) int {
	return map[string]int{"SIGKILL": 9, "SIGSEGV": 11, "SIGTERM": 15}[name]
}

func (w wrapper) run(ctx context.Context, k call) inside {
	argv := k.p.fill(w.words, k.argv)
	if k.c.Terminal {
		argv = append([]string{k.p.g.probe, "probe", "terminal"}, argv...)
	}
	began := time.Now()
	var kept bounded
	var to io.Writer = &kept
	if k.out != nil {
		to = k.out
	}
	t := k.p.outsideTo(ctx, argv, k.c.Stdin, k.limit, to)
	t.out = kept.String() + t.out
	in := inside{code: t.exit, out: t.out, took: time.Since(began), backend: "command", late: t.exit == 124 && time.Since(began) >= k.limit}
	if n := signals(k.c.Signal); n > 0 && t.exit == 128+n { // as a shell and most wrappers say it
		in.signal = k.c.Signal
	}
	if t.exit == 126 || t.exit == 127 {
		if _, err := exec.LookPath(argv[0]); err != nil {
			in.err, in.errCode = err, string(fault.SandboxUnavailable)
		}
	}
	return in
}

// fill puts a place's paths and the command into a template.
func (p *place) fill(words, command []string) []string {
	r := strings.NewReplacer("{ws}", p.ws, "{out}", p.out, "{bin}", p.g.bin, "{home}", p.g.home, "{cwd}", p.ws, "{uid}", fmt.Sprint(os.Geteuid()), "{gid}", fmt.Sprint(os.Getegid()))
	var out []string
	for _, w := range words {
		if w == "{command}" {
			out = append(out, command...)
			continue
		}
		out = append(out, r.Replace(w))
	}
	return out
}
