package random

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// names are what files and folders are called. Patterns, quoting and JSON must not
// be fooled by any of them. The last is no UTF-8.
var names = []string{"a", "b", "data", ".env", "x.log", "lib", "sp ace", "nl\nx", "-dash", "é", "st*r", "br[1]", "cu{a,b}", `back\slash`, "'q\"", ".vscode", ".mcp.json", ".idea", "\xff\xfe"}

// globs are patterns for a part of a path.
var globs = []string{"*", "?", "*.log", ".e*", "[ab]", "[!a]*", "{a,lib}", "**", "s*"}

type generator struct {
	*rand.Rand
	w       World
	dirs    []string
	files   []string
	scripts []string
	every   []string
}

// Generate makes a world up. The same seed gives the same world.
func Generate(seed uint64, ops int) World {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 8)), w: World{Seed: seed}}
	for _, top := range []string{"ws", "out", "home"} {
		g.dirs = append(g.dirs, top)
		g.grow(top, 0)
	}
	g.credentials()
	for range g.IntN(5) {
		g.link()
	}
	for range g.IntN(4) {
		g.hard()
	}
	g.rules()
	for range ops {
		g.w.Ops = append(g.w.Ops, g.op(len(g.w.Ops)))
	}
	return g.w
}

func (g *generator) add(n Node) bool {
	if slices.ContainsFunc(g.w.Nodes, func(have Node) bool { return have.Path == n.Path }) {
		return false
	}
	g.w.Nodes = append(g.w.Nodes, n)
	g.every = append(g.every, n.Path)
	switch n.Kind {
	case Dir:
		g.dirs = append(g.dirs, n.Path)
	case Script:
		g.scripts = append(g.scripts, n.Path)
	case File:
		g.files = append(g.files, n.Path)
	}
	return true
}

// grow fills a folder.
func (g *generator) grow(dir string, depth int) {
	for range 2 + g.IntN(3) {
		n := Node{Path: dir + "/" + pick(g, names), Kind: File}
		switch {
		case depth < 3 && g.IntN(2) == 0:
			n.Kind = Dir
		case g.IntN(3) == 0:
			n.Kind = Script
		}
		if g.add(n) && n.Kind == Dir {
			g.grow(n.Path, depth+1)
		}
	}
}

// credentials are some of those that are hidden by default.
func (g *generator) credentials() {
	if g.IntN(2) == 0 && g.add(Node{Path: "home/.aws", Kind: Dir}) {
		g.add(Node{Path: "home/.aws/credentials", Kind: File})
	}
	if g.IntN(2) == 0 {
		g.add(Node{Path: "home/.netrc", Kind: File})
	}
}

func (g *generator) link() {
	target := pick(g, append(g.every, "ws/none", "out/none"))
	at := pick(g, g.dirs)
	text := "@/" + target
	if g.IntN(2) == 0 {
		text = strings.Repeat("../", strings.Count(at, "/")+1) + target
	}
	g.add(Node{Path: at + "/ln" + fmt.Sprint(g.IntN(9)), Kind: Link, Target: text})
}

func (g *generator) hard() {
	if len(g.files) > 0 {
		g.add(Node{Path: pick(g, g.dirs) + "/hard" + fmt.Sprint(g.IntN(9)), Kind: Hard, Target: pick(g, g.files)})
	}
}

func (g *generator) rules() {
	r := &g.w.Rules
	r.Mode = pick(g, []string{"compat", "compat", "strict"})
	r.Prevent = g.IntN(3) == 0
	for range g.IntN(3) {
		r.Writable = append(r.Writable, g.entry(false))
	}
	for range g.IntN(3) {
		r.Readable = append(r.Readable, g.entry(true))
	}
	for range g.IntN(4) {
		r.DenyRead = append(r.DenyRead, g.entry(true))
	}
	for range g.IntN(3) {
		r.DenyWrite = append(r.DenyWrite, g.entry(true))
	}
	if g.IntN(4) == 0 {
		r.AllowProtected = []string{pick(g, []string{"vscode", "idea", "mcp"})}
	}
	for _, l := range []*[]string{&r.Writable, &r.Readable, &r.DenyRead, &r.DenyWrite} {
		slices.Sort(*l)
		*l = slices.Compact(*l)
	}
}

// entry is a path, or a pattern, in one of the ways to write it.
func (g *generator) entry(patterns bool) string {
	if patterns && g.IntN(6) == 0 {
		return "**/" + pick(g, []string{".env", "x.log", "*.log", "a", "lib/*", "data/**", "[ab]"})
	}
	p := pick(g, g.every)
	if g.IntN(8) == 0 {
		p = pick(g, g.dirs) + "/missing"
	}
	if !utf8.ValidString(p) { // no UTF-8: a policy is text
		p = pick(g, tops) + "/a"
	}
	top, rest, _ := strings.Cut(p, "/")
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		parts[i] = quoted(part)
	}
	if patterns && g.IntN(3) == 0 {
		parts[g.IntN(len(parts))] = pick(g, globs)
	}
	rest = strings.Join(parts, "/")
	switch {
	case top == "ws" && g.IntN(2) == 0 && !strings.HasPrefix(rest, "**/"):
		return rest
	case top == "home" && g.IntN(2) == 0:
		return "~/" + rest
	}
	return "@/" + top + "/" + rest
}

// quoted writes a name so that no pattern is in it.
func quoted(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(`*?[]{},\!`, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

func (g *generator) op(n int) Op {
	fresh := fmt.Sprintf("new%d", n)
	dir := pick(g, g.dirs)
	switch g.IntN(16) {
	case 0, 1:
		return Op{Verb: List, Path: dir}
	case 2, 3:
		return Op{Verb: Create, Path: dir + "/" + fresh}
	case 4:
		return Op{Verb: Mkdir, Path: dir + "/" + fresh}
	case 5, 6:
		if len(g.scripts) > 0 {
			return Op{Verb: Exec, Path: pick(g, g.scripts)}
		}
	case 7:
		if len(g.files) > 0 {
			return Op{Verb: HardTo, Path: pick(g, g.files), To: dir + "/" + fresh}
		}
	case 8:
		if len(g.files) > 0 {
			return Op{Verb: Rename, Path: pick(g, g.files), To: dir + "/" + fresh}
		}
	case 9, 10, 11, 12:
		return Op{Verb: Write, Path: g.reached()}
	}
	return Op{Verb: Read, Path: g.reached()}
}

// reached is a path that is not a folder, sometimes through a link.
func (g *generator) reached() string {
	var list []string
	for _, n := range g.w.Nodes {
		if n.Kind == Dir {
			continue
		}
		list = append(list, n.Path)
		if n.Kind == Link {
			list = append(list, n.Path, n.Path, n.Path+"/"+pick(g, names))
		}
	}
	if len(list) == 0 {
		return "ws"
	}
	return path.Clean(pick(g, list))
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }
