package qsandbox

import (
	"context"
	"os"
	"testing"
)

func BenchmarkRunTrue(b *testing.B) {
	os.Chdir("/srv/w")
	for b.Loop() {
		rep, err := Run(context.Background(), Request{Command: []string{"/bin/true"}})
		if err != nil || rep.Exit.Code != 0 {
			b.Fatal(err, rep)
		}
	}
}
func BenchmarkBind(b *testing.B) {
	os.Chdir("/srv/w")
	r := newRun(Request{Command: []string{"/bin/true"}})
	for b.Loop() {
		if _, err := r.bind(Request{Command: []string{"/bin/true"}}); err != nil {
			b.Fatal(err)
		}
	}
}
func BenchmarkPlan(b *testing.B) {
	os.Chdir("/srv/w")
	r := newRun(Request{Command: []string{"/bin/true"}})
	s, _ := r.bind(Request{Command: []string{"/bin/true"}})
	for b.Loop() {
		if _, err := r.plan(context.Background(), s, false); err != nil {
			b.Fatal(err)
		}
	}
}
