package render

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

func TestHashesAreThoseOfTheFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{{"page.css", css, cssHash}, {"page.js", script, scriptHash}} {
		sum := sha256.Sum256([]byte(c.text))
		if got := base64.StdEncoding.EncodeToString(sum[:]); got != c.want {
			t.Errorf("the sum of %s is %q now", c.name, got)
		}
	}
}

// TestHeadSaysWhatIsMissing: who reads the first lines alone knows that it is not all.
func TestHeadSaysWhatIsMissing(t *testing.T) {
	const quick, cut = "The quick matrix", "Interrupted"
	for _, c := range []struct {
		r               results.Report
		title           string
		quick, cutShort bool
	}{
		{results.Report{}, "<title>Sandbox report</title>", false, false},
		{results.Report{Matrix: results.Quick}, "<title>Sandbox report (the quick matrix)</title>", true, false},
		{results.Report{Interrupted: true}, "<title>Sandbox report (interrupted)</title>", false, true},
		{results.Report{Matrix: results.Quick, Interrupted: true}, "<title>Sandbox report (the quick matrix, interrupted)</title>", true, true},
	} {
		page, text := string(HTML(&c.r)), string(Markdown(&c.r))
		head, _, found := strings.Cut(page, `<div class="tiles">`)
		if !found || !strings.Contains(head, c.title) {
			t.Errorf("the page's head misses %q", c.title)
		}
		top, _, found := strings.Cut(text, " records: ")
		if !found {
			t.Fatalf("no count of records in %q", text)
		}
		for where, s := range map[string]string{"page": head, "text": top} {
			if strings.Contains(s, quick) != c.quick || strings.Contains(s, cut) != c.cutShort {
				t.Errorf("%s of %s: %s", where, c.title, s[strings.LastIndex(s, "</style>")+1:])
			}
		}
	}
}
