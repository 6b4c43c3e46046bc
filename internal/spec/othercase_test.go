//go:build unix

package spec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// TestOtherCase: where a covered name is there in other letters too, strict does not
// start, and compat says that its rows are advisory. Where case is told nothing is said.
func TestOtherCase(t *testing.T) {
	for _, c := range []struct {
		folds bool
		mode  policy.Mode
	}{{false, policy.Compat}, {false, policy.Strict}, {true, policy.Compat}, {true, policy.Strict}, {true, policy.Permissive}} {
		h := machine(backendtest.Machine{"/home/dev/ws/.vscode/tasks.json": "x"}).Host()
		if lstat := h.Lstat; c.folds {
			h.Lstat = func(p string) (host.Info, error) {
				if strings.HasPrefix(p, "/home/dev/ws/") {
					p = strings.ToLower(p)
				}
				return lstat(p)
			}
		}
		s, err := bind(t, h, spec.Command{}, modeOf(c.mode))
		if wanted := c.folds && c.mode == policy.Strict; errors.Is(err, fault.ErrPolicyUnenforceable) != wanted || err != nil && !wanted {
			t.Errorf("folds %v, %v: %v", c.folds, c.mode, err)
		}
		if err != nil {
			continue
		}
		advisory := 0
		for _, row := range s.Rows {
			if row.Level == report.Advisory && strings.Contains(row.Why, "/home/dev/ws/.vscode") {
				advisory++
			}
		}
		if want := 3; (advisory == want) != (c.folds && c.mode == policy.Compat) || advisory != 0 && advisory != want {
			t.Errorf("folds %v, %v: %d rows", c.folds, c.mode, advisory)
		}
	}
}
