package repo

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

var readmes = []string{"README.md", "README.zh-CN.md"}

// blocks gives the code blocks of a language.
func blocks(text, language string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestReadmeExampleCompiles: the Go example of a README is a part of the examples,
// which the compiler sees.
func TestReadmeExampleCompiles(t *testing.T) {
	var have []string
	for line := range strings.Lines(read(t, "example_test.go")) {
		have = append(have, strings.TrimSpace(line))
	}
	for _, doc := range readmes {
		found := blocks(read(t, doc), "go")
		if len(found) == 0 {
			t.Errorf("%s has no Go example", doc)
		}
		for _, b := range found {
			for line := range strings.Lines(b) {
				if line = strings.TrimSpace(line); !slices.Contains(have, line) {
					t.Errorf("%s: the line is not in example_test.go: %s", doc, line)
				}
			}
		}
	}
}

// TestReadmePolicies: the policies of a README are right.
func TestReadmePolicies(t *testing.T) {
	for _, doc := range readmes {
		found := blocks(read(t, doc), "jsonc")
		if len(found) == 0 {
			t.Errorf("%s has no policy", doc)
		}
		for _, b := range found {
			if _, err := policy.Parse(doc, []byte(b)); err != nil {
				t.Errorf("%v in\n%s", err, b)
			}
		}
	}
}

var comment = regexp.MustCompile(`(?m)\s+(#|//).*$`)

// TestReadmesAgree: both languages show the same commands, policies and code.
func TestReadmesAgree(t *testing.T) {
	for _, language := range []string{"sh", "jsonc", "go"} {
		var all [][]string
		for _, doc := range readmes {
			var bare []string
			for _, b := range blocks(read(t, doc), language) {
				bare = append(bare, comment.ReplaceAllString(b, ""))
			}
			all = append(all, bare)
		}
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("the blocks of %s differ:\n%q\n%q", language, all[0], all[1])
		}
	}
	count := func(doc, what string) int { return strings.Count(read(t, doc), what) }
	for _, what := range []string{"\n## ", "\n| "} {
		if a, b := count(readmes[0], what), count(readmes[1], what); a != b {
			t.Errorf("%q: %d in %s, %d in %s", what, a, readmes[0], b, readmes[1])
		}
	}
}
