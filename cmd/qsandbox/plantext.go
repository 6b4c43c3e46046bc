package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// planText is a plan for people.
func planText(p *qsandbox.Plan) string {
	var b strings.Builder
	b.WriteString(planHead(p).lines(""))
	part(&b, "mounts", planMounts(p))
	part(&b, "environment", planEnv(p))
	part(&b, "limits", planLimits(p))
	if p.Outer != nil {
		part(&b, "program around it", planOuter(p.Outer))
	}
	part(&b, "profile", planProfile(p))
	part(&b, "how each requirement is kept", planRows(p))
	var notices table
	for _, n := range p.Notices {
		notices.row(n.Kind, n.Text)
	}
	part(&b, "notices", notices)
	return b.String()
}

// part adds a heading and a table, unless the table is empty.
func part(b *strings.Builder, name string, t table) {
	if len(t) > 0 {
		b.WriteString("\n" + heading(name) + t.lines("  "))
	}
}

func planHead(p *qsandbox.Plan) (t table) {
	backend := p.Backend
	if p.Degraded {
		backend += " (NO SANDBOX: " + p.Reason + ")"
	}
	t.row("backend", backend)
	t.row("mode", p.Mode)
	t.row("command", words(p.Command))
	t.row("program", p.Program)
	t.row("workspace", p.Workspace)
	t.row("cwd", p.Cwd)
	t.row("user", fmt.Sprintf("%s (uid %d, gid %d)", p.User.Name, p.User.UID, p.User.GID))
	t.row("input", p.Stdin)
	t.row("namespaces", orNone(strings.Join(p.Namespaces, " ")))
	if p.Seccomp > 0 {
		t.row("seccomp", strconv.Itoa(p.Seccomp)+" instructions")
	}
	if p.Landlock != nil {
		t.row("Landlock", fmt.Sprintf("ABI %d, %d paths", p.Landlock.ABI, len(p.Landlock.Paths)))
	}
	for _, c := range p.Create {
		t.row("makes", c)
	}
	return t
}

func planProfile(p *qsandbox.Plan) (t table) {
	for line := range strings.Lines(p.Profile) {
		t.row(strings.TrimSuffix(line, "\n"))
	}
	return t
}

func planMounts(p *qsandbox.Plan) (t table) {
	for _, m := range p.Mounts {
		access := "rw"
		if m.ReadOnly {
			access = "ro"
		}
		what := m.Dst
		switch {
		case m.Target != "":
			what += " -> " + m.Target
		case m.Src != "" && m.Src != m.Dst:
			what += " <- " + m.Src
		case m.Size > 0:
			what += " (" + policy.Size(m.Size).String() + ")"
		}
		t.row(m.Kind, access, what, m.Origin)
	}
	return t
}

func planEnv(p *qsandbox.Plan) (t table) {
	var names []string
	for _, v := range p.Env {
		if v.Value != nil {
			t.row(v.Name, *v.Value)
			continue
		}
		names = append(names, v.Name)
	}
	for len(names) > 0 {
		n, length := 0, 0
		for n < len(names) && (n == 0 || length+len(names[n]) < 90) {
			length += len(names[n]) + 1
			n++
		}
		t.row(strings.Join(names[:n], " "))
		names = names[n:]
	}
	return t
}

func planLimits(p *qsandbox.Plan) (t table) {
	for _, l := range p.Limits {
		t.row(l.Name, l.Value, l.How)
	}
	return t
}

// planOuter puts each option of the program on a line of its own.
func planOuter(o *qsandbox.PlanOuter) (t table) {
	line := []string{o.Program}
	for _, a := range o.Args {
		if strings.HasPrefix(a, "--") {
			t.row(words(line))
			line = []string{"  " + a}
			continue
		}
		line = append(line, a)
	}
	t.row(words(line))
	return t
}

func planRows(p *qsandbox.Plan) (t table) {
	for _, r := range p.Enforcement {
		what := r.Mechanism
		if r.Why != "" {
			what = strings.TrimPrefix(what+": "+r.Why, ": ")
		}
		t.row(r.Requirement, string(r.Level), what)
	}
	return t
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// words joins arguments so that it can be seen where each ends. It is for people:
// nothing of it is ever given to a shell.
func words(list []string) string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = w
		if w == "" || strings.ContainsAny(strings.TrimLeft(w, " "), " \t\n'\"\\$`;&|<>*?()") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
