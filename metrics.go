package qsandbox

import (
	"errors"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/metrics"
)

// ErrUnkept marks an error of Metrics after which the text is good all the same: the
// counts could not be kept for the next time.
var ErrUnkept = errors.New("the counts could not be kept")

// Metrics gives what the audit log of this account tells, in Prometheus' text form. The
// counts outlive programs and log files. Errors: INTERNAL when the log cannot be read, or,
// with ErrUnkept and a text, when the state directory cannot be written.
func Metrics() (string, error) {
	path := auditPath(host.Real())
	if path == "" {
		return "", fault.New(fault.Internal, "read metrics", "", "the account has no home directory, and XDG_STATE_HOME is not set")
	}
	c, unkept, err := metrics.Update(path)
	if err != nil {
		return "", eventsFailed(path, err)
	}
	if unkept != nil {
		err = fault.Wrap(fault.Internal, "keep metrics", path, errors.Join(ErrUnkept, unkept))
	}
	return c.Text(time.Now()), err
}

// MetricsFile writes Metrics to a file that is replaced as a whole, as the textfile
// collector of node_exporter wants it; the name must end in .prom for that. Everybody may
// read it: it has numbers only.
func MetricsFile(path string) error {
	text, err := Metrics()
	if text == "" {
		return err
	}
	if werr := metrics.WriteFile(path, []byte(text), 0o644); werr != nil {
		return fault.Wrap(fault.UsageInvalid, "write metrics", path, werr).WithHint("name a file in a directory that can be written")
	}
	return err
}
