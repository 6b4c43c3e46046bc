package random

import (
	"encoding/json"
	"fmt"
	"strings"
)

// CaseFile writes a disagreement down as a case of the conformance harness, which
// expects what the second reading says. The home directory of a world becomes a
// plain folder there: a case has decoys in its own.
func (d Disagreement) CaseFile() string {
	var b strings.Builder
	expect, section := "denied", "\n-- twin --\ntrue\n"
	if d.Reading {
		expect, section = "works", ""
	}
	fmt.Fprintf(&b, "id: RND-%03d\ntitle: found at random, seed %d: %s\nseverity: critical\nrows: POL-14, CNF-08\nplatforms: linux\nbackends: %s\nmodes: %s\nexpect: %s\n",
		d.World.Seed%1000, d.World.Seed, d.Op.Verb, d.Backend, d.World.Rules.Mode, expect)
	fmt.Fprintf(&b, "why: Kernel, explain and the rules as they are written must say the same.\n\n-- policy --\n%s\n\n-- setup --\nmkdir -p \"$T/home\"\n%s", d.World.Rules.caseText(), d.World.script())
	fmt.Fprintf(&b, "\n-- command --\n%s\n%s", d.Op.script(), section)
	return b.String()
}

// caseText is the policy of a case; it says nothing of what the matrix says.
func (r Rules) caseText() string {
	prevent := "detect"
	if r.Prevent {
		prevent = "prevent"
	}
	list := func(entries []string) []string {
		out := []string{}
		for _, e := range entries {
			if rest, ok := strings.CutPrefix(e, "~/"); ok {
				e = "@/home/" + rest
			}
			out = append(out, absolute("$T", e))
		}
		return out
	}
	data, err := json.Marshal(map[string]any{"filesystem": map[string]any{"writable": list(r.Writable), "readable": list(r.Readable),
		"denyRead": list(r.DenyRead), "denyWrite": list(r.DenyWrite), "allowProtected": list(r.AllowProtected), "newProtected": prevent}})
	if err != nil {
		panic(err) // strings only
	}
	return string(data)
}

// script makes the tree.
func (w World) script() string {
	var b strings.Builder
	for i, n := range w.Nodes {
		at := shell("$T", n.Path)
		switch n.Kind {
		case Dir:
			fmt.Fprintf(&b, "mkdir -p %s\n", at)
		case Script:
			fmt.Fprintf(&b, "printf '#!/bin/sh\\nexit %d # %d\\n' > %s\nchmod 755 %s\n", scriptExit, i, at, at)
		case Link:
			root, text := "", n.Target
			if rest, ok := strings.CutPrefix(text, "@/"); ok {
				root, text = "$T", rest
			}
			fmt.Fprintf(&b, "ln -s -- %s %s\n", shell(root, text), at)
		case Hard:
			fmt.Fprintf(&b, "ln -- %s %s\n", shell("$T", n.Target), at)
		default:
			fmt.Fprintf(&b, "echo 'file %d' > %s\n", i, at)
		}
	}
	return b.String()
}

func (o Op) script() string {
	at, to := shell("$T", o.Path), shell("$T", o.To)
	return map[Verb]string{
		Read: "test -s " + at + " && cat -- " + at, List: "ls -A -- " + at, Write: "printf x >> " + at, Create: "set -C; printf x > " + at,
		Mkdir: "mkdir -- " + at, Exec: at + "; test $? = 7", HardTo: "ln -- " + at + " " + to, Rename: "mv -- " + at + " " + to,
	}[o.Verb]
}

// shell quotes a path; odd bytes are written in octal.
func shell(root, path string) string {
	var b strings.Builder
	odd := false
	for i := range len(path) {
		c := path[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/._-+=@:, ", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		odd = true
		fmt.Fprintf(&b, `\%03o`, c)
	}
	text := b.String()
	if odd {
		text = `$(printf '` + text + `')`
	}
	if root != "" {
		text = root + "/" + text
	}
	return `"` + text + `"`
}
