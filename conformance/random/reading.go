package random

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// right is what a rule gives. The order is the order of strictness.
type right int

const (
	hidden right = iota
	readOnly
	writable
)

// reading is the second reading of the rules: docs/policy.md and no code of the
// product. It is slow and simple on purpose: every name of the tree is compared
// with every entry, and the answer is found by going up from the path.
type reading struct {
	root   string
	rules  Rules
	claims map[string][]claim // by real path
	links  []foundLink        // found by patterns that hide
}

type foundLink struct {
	at    string
	claim claim
}

// claim is what one entry says of one path.
type claim struct {
	right   right
	user    bool // an entry of the policy's, which replaces a built-in one
	written bool // the path was written down, not found by a pattern
	takes   bool // only takes writing away
}

// read applies the rules to the tree below root, as it is now.
func read(root string, rules Rules) *reading {
	r := &reading{root: root, rules: rules, claims: map[string][]claim{}}
	r.claim(filepath.Join(root, "ws"), claim{right: writable, user: true, written: true})
	for _, e := range rules.Writable {
		c := claim{right: writable, user: true, written: true}
		if rules.Mode == "strict" {
			c.right = readOnly // only the workspace is writable there
			if _, err := os.Stat(r.place(e)); err != nil {
				continue
			}
		}
		if r.place(e) != filepath.Join(root, "ws") {
			r.claim(r.place(e), c)
		}
	}
	for _, c := range []string{"/home/.aws", "/home/.netrc"} {
		r.claim(root+c, claim{right: hidden, written: true})
	}
	r.entries(rules.Readable, claim{right: readOnly, user: true})
	r.entries(rules.DenyRead, claim{right: hidden, user: true})
	for _, l := range r.links {
		if r.at(filepath.Dir(l.at)) != hidden { // nobody looks into what is hidden
			r.claim(l.at, l.claim)
		}
	}
	r.entries(rules.DenyWrite, claim{right: readOnly, user: true, takes: true})
	r.protected()
	return r
}

func (r *reading) claim(p string, c claim) {
	if real, ok := landOn(p); ok {
		r.claims[real] = append(r.claims[real], c)
	}
}

// place is where an entry that is no pattern points.
func (r *reading) place(entry string) string {
	return filepath.Clean(r.anchored(plain(entry)))
}

func (r *reading) anchored(entry string) string {
	switch {
	case strings.HasPrefix(entry, "@/"):
		return r.root + entry[1:]
	case strings.HasPrefix(entry, "~/"):
		return r.root + "/home" + entry[1:]
	}
	return r.root + "/ws/" + entry
}

// entries makes claims of a list.
func (r *reading) entries(list []string, c claim) {
	for _, e := range list {
		if !isPattern(e) {
			c.written = true
			r.claim(r.place(e), c)
			continue
		}
		c.written = false
		for _, pattern := range r.patterns(e) {
			r.found(pattern, c)
			// All contents are hidden by one empty folder in the place of theirs.
			if dir, ok := strings.CutSuffix(pattern, "/**"); ok && c.right == hidden {
				r.found(dir+"/", c)
			}
		}
	}
}

// patterns: one that starts with "**/" counts in every folder that is given as
// writable, any other one at its place.
func (r *reading) patterns(e string) []string {
	if !strings.HasPrefix(e, "**/") {
		return []string{r.anchored(e)}
	}
	out := []string{r.root + "/ws/" + e}
	for _, w := range r.rules.Writable {
		if real, ok := landOn(r.place(w)); ok && real != r.root+"/ws" {
			out = append(out, literal(real)+"/"+e)
		}
	}
	return out
}

// found claims what a pattern finds. A link that it finds gives nothing, and takes
// away where it leads. A pattern with a slash at its end finds folders alone.
func (r *reading) found(pattern string, c claim) {
	pattern, folders := strings.CutSuffix(pattern, "/")
	parts := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	_ = filepath.WalkDir(r.root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || folders && !e.IsDir() || !matches(parts, strings.Split(p[1:], "/")) {
			return nil
		}
		if e.Type()&fs.ModeSymlink != 0 {
			if _, err := os.Stat(p); err == nil && c.right == hidden {
				r.links = append(r.links, foundLink{p, c})
			}
			return nil
		}
		if c.right != readOnly || c.takes || !r.inHidden(parts, p) {
			r.claim(p, c)
		}
		return nil
	})
}

// inHidden tells whether a folder above p is hidden by name and found by the pattern
// as well: then the pattern shows nothing in it.
func (r *reading) inHidden(parts []string, p string) bool {
	for dir := filepath.Dir(p); dir != "/"; dir = filepath.Dir(dir) {
		if !matches(parts, strings.Split(dir[1:], "/")) {
			continue
		}
		for _, e := range r.rules.DenyRead {
			if real, ok := landOn(r.place(e)); ok && !isPattern(e) && real == dir {
				return true
			}
		}
	}
	return false
}

// protectedNames are those of the protected names that trees have.
var protectedNames = map[string]string{".vscode": "vscode", ".idea": "idea", ".mcp.json": "mcp"}

// protected names are read-only in every writable folder, unless allowed, and so is
// what links in them lead to.
func (r *reading) protected() {
	_ = filepath.WalkDir(r.root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 || !r.isProtected(p) || r.within(p) {
			return nil
		}
		r.claim(p, claim{right: readOnly, written: true, takes: true})
		if e.IsDir() && r.inWritable(p) {
			r.linksIn(p, 2)
		}
		return nil
	})
}

func (r *reading) isProtected(p string) bool {
	name, ok := protectedNames[filepath.Base(p)]
	return ok && !slices.Contains(r.rules.AllowProtected, name)
}

// within tells whether a path lies in a protected folder of a writable one, as a part
// of it: a folder that was given as writable stands for itself.
func (r *reading) within(p string) bool {
	given := r.given()
	for dir := filepath.Dir(p); dir != "/" && !slices.Contains(given, dir); dir = filepath.Dir(dir) {
		if r.isProtected(dir) && r.inWritable(dir) {
			return true
		}
	}
	return false
}

// given are the folders that are writable.
func (r *reading) given() []string {
	list := []string{r.root + "/ws"}
	for _, w := range r.rules.Writable {
		if p, ok := landOn(r.place(w)); ok && r.rules.Mode != "strict" {
			list = append(list, p)
		}
	}
	return list
}

// linksIn: links in a protected folder, and in those that it holds, count.
func (r *reading) linksIn(dir string, depth int) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		real, ok := landOn(p)
		switch {
		case e.IsDir() && depth > 1:
			r.linksIn(p, depth-1)
		case e.Type()&fs.ModeSymlink != 0 && ok && r.inWritable(real):
			if _, err := os.Lstat(real); err == nil {
				r.claim(real, claim{right: readOnly, written: true, takes: true})
			}
		}
	}
}

// inWritable tells whether a path lies in a folder that was given as writable, and
// neither is nor holds one that lies in no other.
func (r *reading) inWritable(real string) bool {
	in, list := false, r.given()
	for _, w := range list {
		inner := slices.ContainsFunc(list, func(o string) bool { return strings.HasPrefix(w, o+"/") })
		if !inner && (w == real || strings.HasPrefix(w, real+"/")) {
			return false
		}
		in = in || strings.HasPrefix(real, w+"/")
	}
	return in
}

// at gives what may be done with a real path: the claims at the nearest place at or
// above it count.
func (r *reading) at(real string) right {
	taken := map[bool]bool{} // whether a rule that takes writing away lies between, by user
	for p := real; ; p = filepath.Dir(p) {
		best, ok := strongest(r.claims[p], false)
		take, takes := strongest(r.claims[p], true)
		if ok {
			if best.right == writable && (takes && stronger(take, best) || len(taken) > 0) {
				return readOnly
			}
			return best.right
		}
		if takes {
			taken[take.user] = true
		}
		if p == "/" {
			break
		}
	}
	if r.rules.Mode == "strict" {
		return hidden // strict shows the system's directories and the workspace
	}
	return readOnly
}

// strongest is the claim that counts at one path.
func strongest(list []claim, takes bool) (best claim, ok bool) {
	for _, c := range list {
		if c.takes == takes && (!ok || stronger(c, best)) {
			best, ok = c, true
		}
	}
	return best, ok
}

// stronger: the user's entry over a built-in one, what is written down over what
// is found, the stricter one on a tie.
func stronger(a, b claim) bool {
	switch {
	case a.user != b.user:
		return a.user
	case a.written != b.written:
		return a.written
	}
	return a.right < b.right
}

// allows answers for an operation on a path as it is written. Each link on the way
// must itself be in sight.
func (r *reading) allows(v Verb, path string) bool {
	real, ok := r.walk(path)
	if !ok {
		return false
	}
	switch v {
	case Read, List, Exec:
		return r.at(real) >= readOnly
	}
	return r.at(real) == writable
}

// walk follows a path; false when a link on the way is hidden, or there are too many.
func (r *reading) walk(path string) (string, bool) {
	cur, rest, links := "/", strings.Split(path, "/"), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			cur = filepath.Dir(cur)
			continue
		}
		next := filepath.Join(cur, part)
		target, err := os.Readlink(next)
		if err != nil {
			cur = next
			continue
		}
		if links++; links > 40 || r != nil && r.at(cur) == hidden {
			return "", false
		}
		if strings.HasPrefix(target, "/") {
			cur = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return cur, true
}

// landOn follows a path without asking whether it is in sight.
func landOn(path string) (string, bool) {
	var r *reading
	return r.walk(path)
}
