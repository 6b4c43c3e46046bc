package repo

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func markdown(t testing.TB) []string { return files(t, ".md") }

var (
	fence    = regexp.MustCompile("(?ms)^```.*?^```")
	codeSpan = regexp.MustCompile("`[^`\n]+`")
	mdLink   = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksResolve: files and headings that a document links to are there.
func TestLinksResolve(t *testing.T) {
	for _, doc := range markdown(t) {
		text := fence.ReplaceAllString(read(t, doc), "")
		for _, m := range mdLink.FindAllStringSubmatch(codeSpan.ReplaceAllStringFunc(text, blank), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file := doc
			if target != "" {
				file = path.Join(path.Dir(doc), target)
			}
			if !exists(file) {
				t.Errorf("%s links to %s, which is not there", doc, m[1])
				continue
			}
			if anchor != "" && strings.HasSuffix(file, ".md") && !slices.Contains(slugs(read(t, file)), anchor) {
				t.Errorf("%s links to %s, which has no such heading", doc, m[1])
			}
		}
	}
}

// blank keeps the length, and a link's text in backquotes a link.
func blank(s string) string { return strings.Repeat("x", len(s)) }

// slugs gives the anchors of the headings, as GitHub makes them.
func slugs(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		s := strings.ReplaceAll(strings.ToLower(notSlug.ReplaceAllString(m[1], "")), " ", "-")
		for base, i := s, 1; slices.Contains(out, s); i++ {
			s = fmt.Sprintf("%s-%d", base, i)
		}
		out = append(out, s)
	}
	return out
}

// tops are the folders that a path in a document may start with.
var tops = []string{"policy", "report", "fault", "internal", "cmd", "docs", "scripts", ".github", ".ci"}

var (
	rootFile = regexp.MustCompile(`^([A-Za-z0-9_-]+\.(md|go|mod|sum|yml)|Makefile|LICENSE|\.golangci\.yml)$`)
	plain    = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)
)

// notOurs are names of files that documents speak of and that belong to others.
var notOurs = []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md", "go.mod", "compose.yml", "Makefile", "conftest.py", ".github/copilot-instructions.md", ".github/agents/sandboxed.agent.md"}

// TestNamedFilesExist: a file or folder that a document names is there.
func TestNamedFilesExist(t *testing.T) {
	for _, doc := range markdown(t) {
		text := fence.ReplaceAllString(read(t, doc), "")
		for _, m := range codeSpan.FindAllString(text, -1) {
			name := strings.TrimSuffix(strings.Trim(m, "`"), "/")
			if !plain.MatchString(name) || exists(name) || slices.Contains(notOurs, name) {
				continue
			}
			top, _, below := strings.Cut(name, "/")
			if below && slices.Contains(tops, top) || rootFile.MatchString(name) && !isPlain(t, doc, name) {
				t.Errorf("%s names `%s`, which is not there", doc, name)
			}
		}
	}
}

// isPlain lets a document name a file of its own folder, or of a package by its
// last part: "compile.go".
func isPlain(t *testing.T, doc, name string) bool {
	if exists(path.Join(path.Dir(doc), name)) || doc == "docs/policy.md" {
		return true
	}
	return slices.ContainsFunc(files(t, "/"+name), func(f string) bool { return path.Base(f) == name })
}

var docName = regexp.MustCompile(`(^|[^A-Za-z0-9_./-])(docs/[a-z0-9/_-]+\.md)`)

// TestCommentsNameDocs: a document that the code names is there.
func TestCommentsNameDocs(t *testing.T) {
	for _, file := range files(t, ".go", ".s", ".h", "Makefile", ".yml") {
		for line := range strings.Lines(read(t, file)) {
			if strings.Contains(line, "://") {
				continue
			}
			for _, m := range docName.FindAllStringSubmatch(line, -1) {
				if !exists(m[2]) {
					t.Errorf("%s names %s, which is not there", file, m[2])
				}
			}
		}
	}
}

var (
	adrName   = regexp.MustCompile(`^docs/adr/(\d{4})-[a-z0-9-]+\.md$`)
	adrStatus = regexp.MustCompile(`(?m)^Status: (proposed|accepted|superseded)`)
)

// TestADRs: each has a number of its own, a title and a state.
func TestADRs(t *testing.T) {
	seen := map[string]string{}
	for _, doc := range markdown(t) {
		if !strings.HasPrefix(doc, "docs/adr/") {
			continue
		}
		m := adrName.FindStringSubmatch(doc)
		if m == nil {
			t.Errorf("%s: an ADR is named NNNN-name.md", doc)
			continue
		}
		if other := seen[m[1]]; other != "" {
			t.Errorf("%s and %s have the same number", other, doc)
		}
		seen[m[1]] = doc
		text := read(t, doc)
		if !strings.HasPrefix(text, "# ") || !adrStatus.MatchString(text) {
			t.Errorf("%s has no title or no line \"Status: accepted\"", doc)
		}
	}
}

var target = regexp.MustCompile(`(?m)^([a-z-]+):`)

// TestMakeTargets: a target that a document names is in the Makefile, and what the
// Makefile starts is there.
func TestMakeTargets(t *testing.T) {
	mk := read(t, "Makefile")
	have := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(mk, -1) {
		have[m[1]] = true
	}
	for _, doc := range append(markdown(t), files(t, ".yml", ".ci/run")...) {
		for _, m := range regexp.MustCompile("`?make ([a-z-]+(?: [a-z-]+)*)`?").FindAllStringSubmatch(makeCalls(read(t, doc)), -1) {
			for _, name := range strings.Fields(m[1]) {
				if !have[name] {
					t.Errorf("%s names the target %q, which the Makefile lacks", doc, name)
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)(?:\./|@)((?:scripts|internal|cmd)/[a-z/]+)`).FindAllStringSubmatch(mk, -1) {
		if !exists(m[1]) {
			t.Errorf("the Makefile uses %s, which is not there", m[1])
		}
	}
}

// makeCalls keeps what is certainly a call: in backquotes, or at the start of a command.
func makeCalls(text string) string {
	var b strings.Builder
	for _, m := range regexp.MustCompile("`make [a-z -]+`|(?m)^(?:\\s*(?:run:|exec|\\$))?\\s*make [a-z -]+$").FindAllString(text, -1) {
		b.WriteString(strings.TrimRight(m, " ") + "\n")
	}
	return b.String()
}
