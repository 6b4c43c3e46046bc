package protect

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

var update = flag.Bool("update", false, "write names_gen.go")

// braces expands {a,b}, nested too; the rows use no escapes.
func braces(s string) []string {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return []string{s}
	}
	depth, parts, from := 0, []string{}, open+1
	for i := open; i < len(s); i++ {
		switch {
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth--
		}
		if depth == 1 && s[i] == ',' || depth == 0 {
			parts = append(parts, s[from:i])
			from = i + 1
		}
		if depth == 0 {
			var out []string
			for _, p := range parts {
				out = append(out, braces(s[:open]+p+s[i+1:])...)
			}
			return out
		}
	}
	panic("unbalanced: " + s)
}

type tables struct{ anywhere, suffix, lead, home, homeGlob []nameRow }

func tablesOf(t *testing.T) (out tables) {
	leads := map[string]bool{}
	for _, p := range policy.Protected() {
		if p.Scope == "" && strings.HasPrefix(p.Name, "git-") {
			continue // repo.go
		}
		for _, m := range braces(policy.FoldName(p.Match)) {
			r := nameRow{name: p.Name, file: p.Kind == "file"}
			if p.Scope == "home" {
				r.key = m
				if strings.ContainsAny(m, "*?[") {
					out.homeGlob = append(out.homeGlob, r)
				} else {
					out.home = append(out.home, r)
				}
				continue
			}
			rest, ok := strings.CutPrefix(m, "**/")
			if !ok {
				t.Fatalf("row %s: a match that holds in every root begins with **/", p.Name)
			}
			if ext, ok := strings.CutPrefix(rest, "*"); ok && !strings.ContainsAny(ext, "*?[/") {
				r.key = ext
				out.suffix = append(out.suffix, r)
				continue
			}
			if strings.ContainsAny(rest, "*?[") {
				t.Fatalf("row %s: %q has a shape that names.go does not know", p.Name, m)
			}
			parts := strings.Split(rest, "/")
			for i := 1; i < len(parts); i++ {
				up, key := strings.Join(parts[:i-1], "/"), parts[i-1]
				if !leads[up+"/"+key] {
					leads[up+"/"+key] = true
					out.lead = append(out.lead, nameRow{key: key, up: up, name: p.Name})
				}
			}
			r.key, r.up = parts[len(parts)-1], strings.Join(parts[:len(parts)-1], "/")
			out.anywhere = append(out.anywhere, r)
		}
	}
	return out
}

// TestTables keeps names_gen.go the same as policy/protected.json.
func TestTables(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("// Code generated from policy/protected.json by \"go test ./internal/protect -run Tables -update\". DO NOT EDIT.\n\npackage protect\n")
	tabs := tablesOf(t)
	for _, tab := range []struct {
		name string
		rows []nameRow
	}{{"anywhereTable", tabs.anywhere}, {"suffixTable", tabs.suffix}, {"leadTable", tabs.lead}, {"homeTable", tabs.home}, {"homeGlobTable", tabs.homeGlob}} {
		sort.SliceStable(tab.rows, func(i, j int) bool { return tab.rows[i].key < tab.rows[j].key })
		fmt.Fprintf(&b, "\nvar %s = [...]nameRow{\n", tab.name)
		for _, r := range tab.rows {
			fmt.Fprintf(&b, "\t{%q, %q, %q, %v},\n", r.key, r.up, r.name, r.file)
		}
		b.WriteString("}\n")
	}
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("names_gen.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, _ := os.ReadFile("names_gen.go")
	if !bytes.Equal(have, want) {
		t.Error("names_gen.go is not what protected.json says: run go test ./internal/protect -run Tables -update")
	}
}
