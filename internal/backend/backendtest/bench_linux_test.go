package backendtest

import (
	"fmt"
	"testing"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// BenchmarkRun is the cost of one case of the contract.
func BenchmarkRun(b *testing.B) {
	for _, s := range append(setups, direct[0]) {
		b.Run(s.String(), func(b *testing.B) {
			p := NewPlace(b)
			for b.Loop() {
				s.Must(b, p, Call{Command: []string{"/bin/true"}})
			}
		})
	}
}

// BenchmarkProcessLimit is what the limit on processes costs by a cgroup.
func BenchmarkProcessLimit(b *testing.B) {
	for _, s := range both {
		for _, n := range []int{0, 64, 4096} {
			b.Run(fmt.Sprintf("%v/%d", s, n), func(b *testing.B) {
				p := NewPlace(b)
				for b.Loop() {
					s.Must(b, p, Call{Command: []string{"/bin/true"}, Policy: Policy{Limits: policy.LayerLimits{Processes: &n}}})
				}
			})
		}
	}
}
