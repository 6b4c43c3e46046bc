//go:build !linux && !darwin && !windows

package protect

import (
	"errors"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

var errNoMove = errors.New("moving entries out of a workspace is not built for this system")

func ours(string) error { return errNoMove }

func moveOut(*Moved) error { return errNoMove }

func ownFile(host.Host, host.Info) bool { return false }

func restoreFor(to, from string) string { return restoreCommand(to, from) }
