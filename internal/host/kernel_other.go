//go:build !linux

package host

func readKernel() Kernel { return Kernel{} }

func unixSockets() ([]string, error) { return nil, nil }
