package conformance

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/qiming-sandbox/qsandbox/conformance/probe"
)

// TestMain lets the test binary be the probe of cases, and the worker of verify.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "probe":
		os.Exit(probe.Main(os.Args[2:], os.Stdout, os.Stderr))
	case os.Getenv(WorkerEnv) != "":
		os.Unsetenv(WorkerEnv)
		if err := Work(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
