package backendtest

import "testing"

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
