//go:build !linux

package host

func readKernel() Kernel { return Kernel{} }

func readCgroups() CgroupState { return CgroupState{} }

func unixSockets() ([]string, error) { return nil, nil }
