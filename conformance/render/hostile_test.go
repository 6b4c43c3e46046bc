package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// hostile are texts that a command could put into a report, or a file that came from
// elsewhere.
var hostile = map[string]string{
	"terminal":  "\x1b[2J\x1b]0;t\x07\x1b]8;;http://evil\x1b\\x\x9b31m\u009b31m\x7f\b",
	"HTML":      `</td></script><script>alert(1)</script><img src=x onerror=alert(1)>&lt;b&gt;<!-- -->`,
	"attribute": `" onload="alert(1)' x='y`,
	"Markdown":  "a|b\\|c `d` [e](http://evil) ![f](//evil) **g** _h_ ~~i~~ # j http://k.l https://m www.n.o @all <p@q.r> :+1:",
	"lines":     "a\r\nb\nc\r# d\n\n|e|\n---\n- f\n\u2028g\u2029h\u0085i\vj\fk",
	"start":     "# h",
	"list":      "- h",
	"number":    "1. h",
	"quote":     "> h",
	"indent":    "    h",
	"bidi":      "a\u202eb\u2066c\u2069\u200fd\u061ce\u200bf\ufeff",
	"NUL":       "a\x00b\x01\x1f",
	"bytes":     "a\xff\xfe\xc0\xaf\xed\xa0\x80b",
	"XML":       "a]]>b<![CDATA[c&#0;&#x1b;&d;\ufffe\uffff",
	"tags":      "a\U000e0041\U0001f600\ue000",
	"backslash": `\`,
}

// fill gives every plain string of a report the same text. Statuses and kinds of
// leaks are words that Read knows.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(text)
		}
	}
}

// report has one of everything, and each text in it is text.
func report(text string) *results.Report {
	r := &results.Report{
		Machines: []results.Machine{{Backends: make([]results.Backend, 1), Facts: make([]results.Fact, 1)}}, Cases: []results.CaseInfo{{Rows: make([]string, 2)}},
		Degradations: make([]results.Degradation, 1), Permissive: make([]results.Permissive, 1), Required: make([]string, 1), Declared: make([]string, 1),
	}
	for _, s := range results.Statuses() {
		r.Records = append(r.Records, results.Record{Status: s})
	}
	r.Evidence = []results.Evidence{{Runs: []results.Run{{Status: results.Fail, Steps: make([]results.Step, 1), Events: make([]results.Event, 1), Samples: make([]results.SampleSeries, 1)}}}}
	fill(reflect.ValueOf(r).Elem(), text)
	r.Settle()
	return r
}

// plain wants text without anything that moves a cursor or turns the writing.
func plain(t *testing.T, name, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: it is no UTF-8", name)
	}
	for i, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			t.Errorf("%s: there is %U in %q", name, r, text[max(0, i-20):min(len(text), i+20)])
			return
		}
	}
}

var (
	tag       = regexp.MustCompile(`<[^>]*>`)
	attribute = regexp.MustCompile(`"[^"]*"`)
)

// skeleton of HTML is its tags with empty attributes.
func skeleton(page string) []string {
	tags := tag.FindAllString(page, -1)
	for i := range tags {
		tags[i] = attribute.ReplaceAllString(tags[i], `""`)
	}
	return tags
}

// TestHostileTextIsNoHTML: the page has the tags that it has with harmless text, and
// loads nothing.
func TestHostileTextIsNoHTML(t *testing.T) {
	harmless := string(HTML(report("x")))
	for name, text := range hostile {
		page := string(HTML(report(text)))
		plain(t, name, page)
		if got, want := skeleton(page), skeleton(harmless); !slices.Equal(got, want) {
			t.Errorf("%s: tags %q, want %q", name, got, want)
		}
		if strings.Count(page, "<!") != 1 || strings.Count(page, "<script>") != 1 {
			t.Errorf("%s: there is a comment or a script that is not ours", name)
		}
	}
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatchIndex(harmless)
	if policy == nil || policy[0] > strings.Index(harmless, "<style>") {
		t.Fatal("the page has no content policy, or too late")
	}
	for _, want := range []string{"default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(harmless[policy[2]:policy[3]], want) {
			t.Errorf("the content policy lacks %s", want)
		}
	}
	for _, bad := range []string{"unsafe", " src=", " href=", "url(", "@import", "http://", "https://", " style=", " onclick=", "innerHTML", "eval("} {
		if strings.Contains(harmless, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

// TestHostileTextIsNoXML: what a reader of JUnit takes out is the text made visible.
func TestHostileTextIsNoXML(t *testing.T) {
	for name, text := range hostile {
		data := JUnit(report(text))
		plain(t, name, string(data))
		elements, messages := 0, 0
		for d := xml.NewDecoder(bytes.NewReader(data)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, ok := token.(xml.StartElement)
			if !ok {
				if c, ok := token.(xml.CharData); ok && strings.TrimSpace(string(c)) != "" {
					t.Errorf("%s: there is text between elements: %q", name, c)
				}
				continue
			}
			elements++
			for _, a := range e.Attr {
				if a.Name.Local == "message" {
					messages++
					if got := strings.TrimPrefix(a.Value, "known limit: "); got != Visible(text, "") {
						t.Errorf("%s: the message is %q, want %q", name, got, Visible(text, ""))
					}
				}
			}
		}
		if elements != 1+1+5+4 || messages != 4 {
			t.Errorf("%s: %d elements and %d messages", name, elements, messages)
		}
	}
}

var escaped = regexp.MustCompile(`\\[[:punct:]]|&(#[0-9]+|lt|gt|amp);`)

// markup gives what is not escaped and means something in Markdown, line by line.
func markup(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = escaped.ReplaceAllString(line, "x")
		signs := strings.Map(func(r rune) rune {
			if strings.ContainsRune("`*_[]()<>|~\\&@", r) {
				return r
			}
			return -1
		}, line)
		// At its beginning a line is a heading, a list, a quotation or a rule by these.
		if start := strings.TrimLeft(line, " "); start != "" && strings.ContainsRune("#-+=>", rune(start[0])) {
			signs = start[:1] + signs
		}
		out = append(out, signs)
	}
	return out
}

// TestHostileTextIsNoMarkdown: the signs that mean something are those of harmless text.
func TestHostileTextIsNoMarkdown(t *testing.T) {
	harmless := markup(string(Markdown(report("x"))))
	for name, text := range hostile {
		got := string(Markdown(report(text)))
		plain(t, name, got)
		if signs := markup(got); !slices.Equal(signs, harmless) {
			t.Errorf("%s: signs\n%q\nwant\n%q\nin\n%s", name, signs, harmless, got)
		}
		for _, bad := range []string{"http:", "https:", "www.", "\n1. ", "\n    "} {
			if strings.Contains(got, bad) {
				t.Errorf("%s: %q becomes a link, a list or code", name, bad)
			}
		}
		// GitHub looks for accounts in what is shown, after entities are read.
		if regexp.MustCompile(`(@|&#64;)[A-Za-z0-9]`).MatchString(got) {
			t.Errorf("%s: it mentions an account", name)
		}
	}
}

// TestSafeJSON: a terminal shows no control character, and a program reads the same.
func TestSafeJSON(t *testing.T) {
	for name, text := range hostile {
		r := report(text)
		data, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		safe := SafeJSON(data)
		plain(t, name, string(safe))
		var a, b any
		if err := json.Unmarshal(data, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(safe, &b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: it means something else now", name)
		}
	}
	if got := string(SafeJSON([]byte(`{"a": "沙箱 é"}`))); got != `{"a": "沙箱 é"}` {
		t.Errorf("what can be shown is changed: %s", got)
	}
}
