//go:build !linux && !darwin

package protect

import "errors"

var errNoMove = errors.New("moving entries out of a workspace is not built for this system")

func ours(string) error { return errNoMove }

func moveOut(*Moved) error { return errNoMove }
