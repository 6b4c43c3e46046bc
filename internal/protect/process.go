package protect

import (
	"errors"
	"io/fs"
	"os"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// process is the identity of a launcher. Start times and process numbers come again
// after a reboot, and numbers alone come again any time.
type process struct {
	Boot  string `json:"boot"`
	PIDNS string `json:"pidns"` // a number means nothing in another pid namespace
	PID   int    `json:"pid"`
	Start string `json:"start"` // in the system's own words
}

// alive tells whether the process still runs. What cannot be told counts as alive,
// with the error: a run that goes on must not be looked at as a dead one.
func (p process) alive(h host.Host) (bool, error) {
	here, err := identify(h, os.Getpid())
	if err != nil {
		return true, err
	}
	if p.Boot != here.Boot {
		return false, nil
	}
	if p.PIDNS != here.PIDNS {
		return true, errors.New("its launcher is in another pid namespace")
	}
	start, zombie, err := startOf(h, p.PID)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err != nil || start == p.Start && !zombie, err
}
