package none_test

import (
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/internal/backend/none"
)

func TestGoldenPlans(t *testing.T) {
	backendtest.Golden(t, none.Backend{}, backend.Support{Available: true})
}
