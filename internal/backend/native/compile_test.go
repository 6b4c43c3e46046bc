package native_test

import (
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/internal/backend/native"
)

func TestGoldenPlans(t *testing.T) {
	backendtest.Golden(t, native.Backend{}, backend.Support{Available: true, UserNS: true, PrivateMounts: true, NoNet: true})
}
