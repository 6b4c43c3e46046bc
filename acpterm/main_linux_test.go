package acpterm

import (
	"os"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
)

func TestMain(m *testing.M) { os.Exit(backendtest.Main(m, backendtest.Options{})) }
