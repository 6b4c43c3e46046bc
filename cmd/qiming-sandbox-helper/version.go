package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/helpercmd"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// build gives the answer of version --json (WIN-11).
func build() helpercmd.Version {
	h := host.Real()
	v := helpercmd.Version{Name: helpercmd.HelperName, Version: "(devel)", Protocol: helpercmd.Protocol, Platform: h.GOOS + "/" + h.GOARCH, Capabilities: helpercmd.CapabilitiesOf(h.GOOS)}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	return v
}

func version(args []string, s streams) int {
	v := build()
	switch {
	case len(args) == 0:
		fmt.Fprintf(s.out, "%s %s (protocol %d, %s)\n", v.Name, v.Version, v.Protocol, v.Platform)
	case len(args) == 1 && args[0] == "--json":
		data, _ := json.Marshal(v)
		fmt.Fprintf(s.out, "%s\n", data)
	default:
		return complain(s, fault.New(fault.UsageInvalid, "print the version", args[0], "the only option is --json"))
	}
	return 0
}
