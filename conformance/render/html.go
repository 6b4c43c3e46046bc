package render

import (
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
	cssHash    = "+A/Gudz0u2GjHFYfuxo7bEMS+IEc8Ek6oQucGkUjztI="
	scriptHash = "EjUNO4NOIyV+SYTubkNy6bC+GTrG0TIWFw/WQeKg03Q="
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
		"<title>Sandbox report</title><style>%s</style></head><body>\n", cssHash, scriptHash, css)
	fmt.Fprintf(&b, "<h1>Sandbox report</h1><p class=\"dim\">%s %s, %s, %.1f s</p>\n", line(r.Tool), line(r.ToolVersion), r.Started.UTC().Format("2006-01-02 15:04 UTC"), float64(r.DurationMS)/1000)
	tiles(&b, r)
	gates(&b, r)
	rates(&b, r)
	matrix(&b, r)
	machines(&b, r)
	fmt.Fprintf(&b, "<script>%s</script></body></html>\n", script)
	return []byte(b.String())
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
	b.WriteString("<h2>Gates</h2><div class=\"scroll\"><table><thead><tr><th>gate</th><th>holds</th><th>detail</th></tr></thead><tbody>\n")
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
	b.WriteString("<h2>Pass rate</h2><div class=\"scroll\"><table><thead><tr><th>platform</th><th>backend</th><th>mode</th><th>tried</th><th>passed</th><th>rate</th></tr></thead><tbody>\n")
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

func matrix(b *strings.Builder, r *results.Report) {
	var columns []column
	cells := map[string]map[column][]results.Record{}
	for _, x := range r.Records {
		c := column{x.Platform, x.Backend, x.Mode}
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		if cells[x.CaseID] == nil {
			cells[x.CaseID] = map[column][]results.Record{}
		}
		cells[x.CaseID][c] = append(cells[x.CaseID][c], x)
	}
	slices.SortFunc(columns, func(a, b column) int {
		return strings.Compare(a.platform+a.backend+a.mode, b.platform+b.backend+b.mode)
	})
	b.WriteString("<h2>Cases</h2><form id=\"filters\"><label>search<input id=\"q\" type=\"search\"></label><label>status<select id=\"st\"><option value=\"\">all</option>")
	for _, s := range results.Statuses() {
		fmt.Fprintf(b, "<option>%s</option>", s)
	}
	b.WriteString("</select></label><label>severity<select id=\"sev\"><option value=\"\">all</option><option>critical</option><option>major</option><option>minor</option></select></label><span id=\"count\" class=\"dim\"></span></form>\n")
	b.WriteString("<div class=\"scroll\"><table id=\"matrix\"><thead><tr><th>case</th>")
	for _, c := range columns {
		fmt.Fprintf(b, "<th>%s<br>%s<br>%s</th>", line(c.backend), line(c.mode), line(c.platform))
	}
	b.WriteString("</tr></thead><tbody>\n")
	evidence := evidenceOf(r)
	for _, c := range r.Cases {
		row(b, c, columns, cells[c.ID], evidence[c.ID])
	}
	b.WriteString("</tbody></table></div>\n")
}

func row(b *strings.Builder, c results.CaseInfo, columns []column, cells map[column][]results.Record, evidence map[column][]results.Evidence) {
	var statuses []string
	for _, list := range cells {
		for _, x := range list {
			if !slices.Contains(statuses, string(x.Status)) {
				statuses = append(statuses, string(x.Status))
			}
		}
	}
	slices.Sort(statuses)
	text := strings.ToLower(c.ID + " " + c.Title + " " + strings.Join(c.Rows, " "))
	fmt.Fprintf(b, "<tr data-text=\"%s\" data-status=\"%s\" data-severity=\"%s\"><td><details><summary><b>%s</b> %s</summary><p class=\"dim\">%s, %s, expected: %s. %s</p>",
		line(text), line(strings.Join(statuses, " ")), line(c.Severity), line(c.ID), line(c.Title), line(c.Severity), line(strings.Join(c.Rows, ", ")), line(c.Expect), line(c.Why))
	for label, s := range map[string]string{"Source": c.Source} {
		if s != "" {
			fmt.Fprintf(b, "<p class=\"dim\">%s: %s</p>", label, line(s))
		}
	}
	if c.Assumes != "" {
		fmt.Fprintf(b, "<p class=\"dim\">Assumes: %s</p>", line(c.Assumes))
	}
	b.WriteString("</details></td>")
	for _, col := range columns {
		b.WriteString("<td class=\"cell\">")
		for _, x := range cells[col] {
			cell(b, x, evidence[col])
		}
		b.WriteString("</td>")
	}
	b.WriteString("</tr>\n")
}

// cell is a record with what was seen behind it.
func cell(b *strings.Builder, x results.Record, evidence []results.Evidence) {
	fmt.Fprintf(b, "<details><summary class=\"%s\">%s</summary>", line(string(x.Status)), line(string(x.Status)))
	if x.Notes != "" {
		fmt.Fprintf(b, "<pre>%s</pre>", block(x.Notes))
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
