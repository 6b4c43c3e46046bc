package render

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

//go:embed page.css
var css string

//go:embed page.js
var script string

// The SHA-256 sums of both, which a test computes: package crypto would cost every
// start of the program, of which few make a page.
const (
	cssHash    = "o4bEvSBn5rmQWs83wphuvM5W1w7mtxwKug1TbkAhm4Y="
	scriptHash = "aRI1+h737pUl3MjLJFoQSafxtb7sOnjQbjUIvQBkO7Q="
)

// HTML gives one page that needs nothing else: a matrix of case × backend × mode,
// with the evidence behind each cell, and filters. Without scripts everything is
// there but the filters.
//
// SECURITY: the content policy allows our one script and style, by hash, and nothing
// that is loaded.
func HTML(r *results.Report) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n"+
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"+
		"<title>Sandbox report%s</title><style>%s</style></head><body>\n", cssHash, scriptHash, titleOf(r), css)
	fmt.Fprintf(&b, "<h1>Sandbox report</h1><p class=\"dim\">%s %s, %s, %.1f s</p>\n", line(r.Tool), line(r.ToolVersion), r.Started.UTC().Format("2006-01-02 15:04 UTC"), float64(r.DurationMS)/1000)
	for _, p := range parts(r) {
		fmt.Fprintf(&b, "<p class=\"part\"><b>%s</b>: %s.</p>\n", p.name, p.means)
	}
	tiles(&b, r)
	gates(&b, r)
	rates(&b, r)
	matrix(&b, r)
	machines(&b, r)
	fmt.Fprintf(&b, "<script>%s</script></body></html>\n", script)
	return []byte(b.String())
}

// titleOf is what a tab of a browser says of a report that is not whole.
func titleOf(r *results.Report) string {
	var names []string
	for _, p := range parts(r) {
		names = append(names, strings.ToLower(p.name))
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

func tiles(b *strings.Builder, r *results.Report) {
	s := r.Summary
	b.WriteString("<div class=\"tiles\">")
	for _, t := range []struct {
		class string
		n     int
		what  string
	}{{"pass", s.Pass, "pass"}, {"fail", s.Fail, "fail"}, {"invalid", s.Invalid, "invalid"}, {"known-limit", s.KnownLimit, "known limits"}, {"skip", s.Skip, "skipped"},
		{"", r.Metrics.EnvLeak, "leaked variables"}, {"", r.Metrics.PolicyViolation, "violations"}, {"", r.Metrics.DegradeToNone, "degradations"}} {
		fmt.Fprintf(b, "<div class=\"tile\"><b class=\"%s\">%d</b>%s</div>", t.class, t.n, t.what)
	}
	b.WriteString("</div>\n")
}

func gates(b *strings.Builder, r *results.Report) {
	b.WriteString("<h2>Gates</h2><div class=\"scroll\"><table class=\"gates\"><thead><tr><th>gate</th><th>holds</th><th>detail</th></tr></thead><tbody>\n")
	for _, g := range r.Gates() {
		word := `<td class="pass">yes</td>`
		if !g.Holds {
			word = `<td class="fail">NO</td>`
		}
		fmt.Fprintf(b, "<tr><td>%s</td>%s<td>%s</td></tr>\n", line(g.Name), word, line(g.Detail))
	}
	b.WriteString("</tbody></table></div>\n")
	for _, d := range r.Declared {
		fmt.Fprintf(b, "<p>Declared limit: %s</p>\n", line(d))
	}
}

func rates(b *strings.Builder, r *results.Report) {
	b.WriteString("<h2>Pass rate</h2><div class=\"scroll\"><table class=\"figures\"><thead><tr><th>platform</th><th>backend</th><th>mode</th><th>tried</th><th>passed</th><th>rate</th></tr></thead><tbody>\n")
	for _, x := range r.Metrics.PassRate {
		rate := "nothing tried"
		if x.Rate != nil {
			rate = fmt.Sprintf("%.1f %%", 100**x.Rate)
		}
		fmt.Fprintf(b, "<tr><td>%s</td><td>%s</td><td>%s</td><td>%d</td><td>%d</td><td>%s</td></tr>\n", line(x.Platform), line(x.Backend), line(x.Mode), x.Tried, x.Passed, rate)
	}
	b.WriteString("</tbody></table></div>\n")
}

// column is one column of the matrix.
type column struct{ platform, backend, mode string }

// grid is the records as a matrix.
type grid struct {
	columns  []column        // those in which something was tried come first
	idle     map[column]bool // nothing was tried there
	cells    map[string]map[column][]results.Record
	evidence map[string]map[column][]results.Evidence
}

func gridOf(r *results.Report) grid {
	g := grid{idle: map[column]bool{}, cells: map[string]map[column][]results.Record{}, evidence: evidenceOf(r)}
	for _, x := range r.Records {
		c := column{x.Platform, x.Backend, x.Mode}
		if !slices.Contains(g.columns, c) {
			g.columns = append(g.columns, c)
			g.idle[c] = true
		}
		if x.Status != results.Skip {
			g.idle[c] = false
		}
		if g.cells[x.CaseID] == nil {
			g.cells[x.CaseID] = map[column][]results.Record{}
		}
		g.cells[x.CaseID][c] = append(g.cells[x.CaseID][c], x)
	}
	slices.SortFunc(g.columns, func(a, b column) int {
		switch {
		case g.idle[a] == g.idle[b]:
			return cmp.Or(cmp.Compare(a.platform, b.platform), cmp.Compare(a.backend, b.backend), cmp.Compare(a.mode, b.mode))
		case g.idle[a]:
			return 1
		}
		return -1
	})
	return g
}

// class marks what the page does not show at first.
func (g grid) class(c column) string {
	if g.idle[c] {
		return "cell idle"
	}
	return "cell"
}

func matrix(b *strings.Builder, r *results.Report) {
	g := gridOf(r)
	b.WriteString("<h2>Cases</h2><form id=\"filters\"><label>search<input id=\"q\" type=\"search\"></label><label>status<select id=\"st\"><option value=\"\">all</option>")
	for _, s := range results.Statuses() {
		fmt.Fprintf(b, "<option>%s</option>", s)
	}
	b.WriteString("</select></label><label>severity<select id=\"sev\"><option value=\"\">all</option><option>critical</option><option>major</option><option>minor</option></select></label>" +
		"<label class=\"check\"><input id=\"idle\" type=\"checkbox\">backends on which nothing was tried</label><span id=\"count\" class=\"dim\"></span></form>\n")
	b.WriteString("<div class=\"scroll\"><table id=\"matrix\"><thead><tr><th>case</th>")
	several := slices.ContainsFunc(g.columns, func(c column) bool { return c.platform != g.columns[0].platform })
	for _, c := range g.columns {
		fmt.Fprintf(b, "<th class=\"%s\">%s<br>%s", g.class(c), line(c.backend), line(c.mode))
		if several { // else it says nothing, and takes the room
			fmt.Fprintf(b, "<br>%s", line(c.platform))
		}
		b.WriteString("</th>")
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, c := range r.Cases {
		g.row(b, c)
	}
	b.WriteString("</tbody></table></div>\n")
}

func (g grid) row(b *strings.Builder, c results.CaseInfo) {
	var statuses []string
	class := ` class="idle"`
	for col, list := range g.cells[c.ID] {
		if !g.idle[col] {
			class = ""
		}
		for _, x := range list {
			if !slices.Contains(statuses, string(x.Status)) {
				statuses = append(statuses, string(x.Status))
			}
		}
	}
	slices.Sort(statuses)
	text := strings.ToLower(c.ID + " " + c.Title + " " + strings.Join(c.Rows, " "))
	fmt.Fprintf(b, "<tr%s data-text=\"%s\" data-status=\"%s\" data-severity=\"%s\"><td><details><summary><b>%s</b> %s</summary><p class=\"dim\">%s, %s, expected: %s. %s</p>",
		class, line(text), line(strings.Join(statuses, " ")), line(c.Severity), line(c.ID), line(c.Title), line(c.Severity), line(strings.Join(c.Rows, ", ")), line(c.Expect), line(c.Why))
	if c.Source != "" {
		fmt.Fprintf(b, "<p class=\"dim\">Source: %s</p>", line(c.Source))
	}
	if c.Assumes != "" {
		fmt.Fprintf(b, "<p class=\"dim\">Assumes: %s</p>", line(c.Assumes))
	}
	b.WriteString("</details></td>")
	for _, col := range g.columns {
		fmt.Fprintf(b, "<td class=\"%s\">", g.class(col))
		for _, x := range g.cells[c.ID][col] {
			cell(b, x, g.evidence[c.ID][col])
		}
		b.WriteString("</td>")
	}
	b.WriteString("</tr>\n")
}

// cell is a record with what was seen behind it.
func cell(b *strings.Builder, x results.Record, evidence []results.Evidence) {
	fmt.Fprintf(b, "<details><summary class=\"%s\">%s</summary>", line(string(x.Status)), line(string(x.Status)))
	if x.Notes != "" {
		fmt.Fprintf(b, "<p>%s</p>", line(x.Notes))
	}
	for _, e := range evidence {
		for _, run := range e.Runs {
			fmt.Fprintf(b, "<p>%s, as %s: <span class=\"%s\">%s</span>, %d ms</p>", line(e.Machine), line(run.As), line(string(run.Status)), line(string(run.Status)), run.DurationMS)
			for _, s := range run.Steps {
				fmt.Fprintf(b, "<pre>%s, %s, exit %d\n%s", line(s.Name), line(s.Where), s.Exit, block(strings.TrimSpace(s.Script)))
				if s.Output != "" {
					fmt.Fprintf(b, "\n--\n%s", block(strings.TrimSpace(s.Output)))
				}
				b.WriteString("</pre>")
			}
			for _, s := range run.Samples {
				fmt.Fprintf(b, "<pre>%s</pre>", block(seriesText(s)))
			}
		}
	}
	b.WriteString("</details>")
}

func evidenceOf(r *results.Report) map[string]map[column][]results.Evidence {
	out := map[string]map[column][]results.Evidence{}
	for _, e := range r.Evidence {
		if out[e.CaseID] == nil {
			out[e.CaseID] = map[column][]results.Evidence{}
		}
		c := column{e.Platform, e.Backend, e.Mode}
		out[e.CaseID][c] = append(out[e.CaseID][c], e)
	}
	return out
}

func machines(b *strings.Builder, r *results.Report) {
	b.WriteString("<h2>Machines</h2>\n")
	for _, m := range r.Machines {
		fmt.Fprintf(b, "<details><summary>%s: %s, kernel %s, %d processors, as %s</summary><div class=\"scroll\"><table><tbody>", line(m.Name), line(m.Platform), line(m.Kernel), m.CPUs, line(m.User))
		for _, x := range m.Backends {
			fmt.Fprintf(b, "<tr><td>%s</td><td>%s %s %s</td></tr>", line(x.Name), line(x.Answer), line(x.Version), line(x.Reason))
		}
		for _, f := range m.Facts {
			fmt.Fprintf(b, "<tr><td>%s</td><td>%s</td></tr>", line(f.Name), line(f.Value))
		}
		b.WriteString("</tbody></table></div></details>\n")
	}
}
