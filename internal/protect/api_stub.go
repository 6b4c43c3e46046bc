package protect

import (
	"errors"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/report"
)

func Scan(h host.Host, roots, homes, allow []string, limits Limits) Found { return Found{} }

// Check walks again after the run.
func Check(h host.Host, before Found) []Violation { return nil }

func Quarantine(v Violation, stateDir, runID string) (Moved, error) {
	return Moved{}, errors.New("not yet")
}

func Begin(h host.Host, stateDir string, f Found, meta Meta) (*Journal, error) { return nil, nil }

func (j *Journal) End() error { return nil }

func Pending(h host.Host, stateDir string) ([]Record, []report.Notice) { return nil, nil }

func (r Record) Adopt(h host.Host) (*Journal, error) { return nil, nil }

func Worktree(h host.Host, workspace string) (Grant, error) { return Grant{}, nil }
