package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// madereport FILE [WORD ...] writes a report with one critical case that passes. Words
// change it: critical=fail, major=skip and the like add a case of that severity with
// that status, backend=B has all records on B, run=R is of another run, tool=T of
// another sandbox, requires=B wants a backend tried; env, degraded, permissive and
// declared are a leak, a degradation without its event, a run without its warning, and
// the declared limit of Windows.
func madereport(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: madereport FILE [WORD ...]")
	}
	m := reportMaker{backend: "linux-native", r: &results.Report{Kind: results.Kind, Version: results.Version, Tool: "qsandbox", ToolVersion: "test", Started: time.Unix(1, 0).UTC(),
		Machines: []results.Machine{{Name: "machine", Run: args[0], Platform: "linux/amd64"}}}}
	m.add("critical", results.Pass)
	for _, word := range args[1:] {
		ts.Check(m.change(word))
	}
	for i := range m.r.Records {
		m.r.Records[i].Backend = m.backend
	}
	for i := range m.r.Evidence {
		m.r.Evidence[i].Backend = m.backend
	}
	m.r.Settle()
	data, err := m.r.JSON()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

type reportMaker struct {
	r       *results.Report
	backend string
}

func (m *reportMaker) add(severity string, st results.Status) {
	id := fmt.Sprintf("CASE-%d", len(m.r.Cases)+1)
	m.r.Cases = append(m.r.Cases, results.CaseInfo{ID: id, Severity: severity})
	m.r.Records = append(m.r.Records, results.Record{Platform: "linux/amd64", Mode: "compat", CaseID: id, Status: st, Notes: "note of " + id})
}

func (m *reportMaker) change(word string) error {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "only": // what this report has is this case alone
		m.r.Cases, m.r.Records = nil, nil
		m.add("critical", results.Status(value))
	case "critical", "major", "minor":
		m.add(name, results.Status(value))
	case "backend":
		m.backend = value
	case "run":
		m.r.Machines[0].Run = value
	case "tool":
		m.r.Tool = value
	case "requires":
		m.r.Required = append(m.r.Required, value)
	case "env":
		m.r.Evidence = append(m.r.Evidence, results.Evidence{Machine: "machine", Platform: "linux/amd64", Mode: "compat", CaseID: "CASE-1", Runs: []results.Run{{As: "root", Status: results.Pass, Leak: results.LeakEnv}}})
	case "degraded":
		m.r.Degradations = append(m.r.Degradations, results.Degradation{CaseID: "CASE-1"})
	case "permissive":
		m.r.Permissive = append(m.r.Permissive, results.Permissive{CaseID: "CASE-1"})
	case "declared":
		m.r.Declared = append(m.r.Declared, results.WindowsLimit)
	default:
		return fmt.Errorf("unknown word %q", word)
	}
	return nil
}
