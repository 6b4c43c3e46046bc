package render

import (
	"fmt"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// Markdown gives a summary: gates, rates, and whatever did not pass.
func Markdown(r *results.Report) []byte {
	var b strings.Builder
	s := r.Summary
	// No line begins with a text that is not ours: it could be a list or code there.
	fmt.Fprintf(&b, "# Sandbox report\n\nTool: %s %s, %s\n\n", markdown(r.Tool), markdown(r.ToolVersion), r.Started.UTC().Format("2006-01-02 15:04 UTC"))
	for _, p := range parts(r) {
		fmt.Fprintf(&b, "**%s**: %s.\n\n", p.name, p.means)
	}
	fmt.Fprintf(&b, "%d records: %d pass, %d fail, %d invalid, %d known limits, %d skipped\n\n", s.Total, s.Pass, s.Fail, s.Invalid, s.KnownLimit, s.Skip)
	b.WriteString("## Gates\n\n| gate | holds | detail |\n|---|---|---|\n")
	for _, g := range r.Gates() {
		holds := "yes"
		if !g.Holds {
			holds = "**NO**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", markdown(g.Name), holds, markdown(g.Detail))
	}
	b.WriteString("\n## Pass rate\n\n| platform | backend | mode | tried | passed | rate |\n|---|---|---|---|---|---|\n")
	for _, x := range r.Metrics.PassRate {
		rate := "nothing tried"
		if x.Rate != nil {
			rate = fmt.Sprintf("%.1f %%", 100**x.Rate)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s |\n", markdown(x.Platform), markdown(x.Backend), markdown(x.Mode), x.Tried, x.Passed, rate)
	}
	m := r.Metrics
	fmt.Fprintf(&b, "\n## Counts\n\n| metric | value |\n|---|---|\n| degrade\\_to\\_none\\_count | %d |\n| policy\\_violation\\_count | %d |\n| env\\_leak\\_count | %d |\n| resource\\_leak\\_signals | handle %d, process %d, tempfile %d, acl %d |\n",
		m.DegradeToNone, m.PolicyViolation, m.EnvLeak, m.Resource.Handle, m.Resource.Process, m.Resource.Tempfile, m.Resource.ACL)
	for _, d := range r.Declared {
		fmt.Fprintf(&b, "\nDeclared limit: %s\n", markdown(d))
	}
	for _, part := range []struct {
		status results.Status
		title  string
	}{{results.Fail, "Failures"}, {results.Invalid, "Invalid cases"}, {results.KnownLimit, "Known limits"}, {results.Skip, "Skipped"}} {
		markdownPart(&b, r, part.status, part.title)
	}
	markdownSeries(&b, r)
	return []byte(b.String())
}

func markdownPart(b *strings.Builder, r *results.Report, status results.Status, title string) {
	head := false
	for _, x := range r.Records {
		if x.Status != status {
			continue
		}
		if !head {
			head = true
			fmt.Fprintf(b, "\n## %s\n\n| case | platform | backend | mode | notes |\n|---|---|---|---|---|\n", title)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", markdown(x.CaseID), markdown(x.Platform), markdown(x.Backend), markdown(x.Mode), markdown(shorten(x.Notes, 300)))
	}
}
