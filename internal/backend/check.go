package backend

import (
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Finish is the last step of every Compile: a strict policy turns a row below
// enforced into an error; other modes keep it, visibly, in the report.
//
// SECURITY: strict never runs with less than it promises.
func Finish(p *plan.Plan, s *spec.Spec) (*plan.Plan, error) {
	if s.Policy.Mode != policy.Strict {
		return p, nil
	}
	var gaps []string
	for _, g := range p.StrictGaps() {
		if g.Requirement == "LNX-07" && g.Mechanism == plan.LaterSockets {
			continue // no kernel in use can do it yet; the row says so in every report
		}
		gaps = append(gaps, g.Requirement+" "+string(g.Level)+": "+g.Why)
	}
	if len(gaps) == 0 {
		return p, nil
	}
	e := fault.New(fault.PolicyUnenforceable, "keep mode strict", "", strings.Join(gaps, "; "))
	e.Backend = p.Backend
	return nil, e
}
