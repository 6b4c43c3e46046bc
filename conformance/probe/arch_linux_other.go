//go:build linux && !amd64

package probe

func architecture() []attempt { return nil }
