package plan

import (
	"slices"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// A setting that does nothing is told of.
func TestUnusedNetworkSettingsAreToldOf(t *testing.T) {
	for _, c := range []struct {
		network policy.Network
		told    bool
	}{
		{policy.Network{}, false},
		{policy.Network{LocalPorts: []int{5432}}, true},
		{policy.Network{Mode: policy.NetworkAllow, Upstream: "http://proxy:3128"}, true},
		{policy.Network{Mode: policy.NetworkOn, LocalPorts: []int{5432}}, false}, // all of them are reachable
	} {
		var p Plan
		p.networkRow(&spec.Spec{Policy: policy.Policy{Network: c.network}})
		if told := slices.ContainsFunc(p.Notices, func(n report.Notice) bool { return n.Kind == "network:unused" }); told != c.told {
			t.Errorf("%+v: told %v", c.network, told)
		}
	}
}
