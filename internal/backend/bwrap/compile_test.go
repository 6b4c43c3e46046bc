package bwrap_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/internal/backend/bwrap"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

var support = backend.Support{Available: true, Path: "/usr/bin/bwrap", Version: "0.8.0", UserNS: true, PrivateMounts: true, NoNet: true}

func TestGoldenPlans(t *testing.T) { backendtest.Golden(t, bwrap.Backend{}, support) }

// TestTooManyArguments: bwrap refuses more than 9,000, so the plan says so first.
func TestTooManyArguments(t *testing.T) {
	s := backendtest.Examples()[0].Spec
	for i := range 4000 {
		s.Rules = append(s.Rules, spec.Rule{Path: fmt.Sprintf("/zz/%05d", i), Given: "x", Access: spec.Deny, Kind: spec.File, Mount: true})
	}
	if _, err := (bwrap.Backend{}).Compile(s, support); !errors.Is(err, fault.ErrPolicyUnenforceable) {
		t.Errorf("4,000 hidden files: %v", err)
	}
	s.Rules = s.Rules[:len(s.Rules)-3500]
	if _, err := (bwrap.Backend{}).Compile(s, support); err != nil {
		t.Errorf("500 hidden files: %v", err)
	}
}
