package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/qiming-sandbox/qsandbox/conformance/results"
)

// progress shows on a terminal how far verify is; elsewhere it says nothing.
type progress struct {
	f     *os.File
	on    bool
	began time.Time
	last  time.Time
	bad   int
}

func newProgress(f *os.File) *progress {
	return &progress{f: f, on: term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb", began: time.Now()}
}

// tell is called after each attempt, never by two at once.
func (p *progress) tell(done, total int, r results.Record) {
	if r.Status == results.Fail || r.Status == results.Invalid {
		p.bad++
	}
	if !p.on || done < total && time.Since(p.last) < 100*time.Millisecond {
		return
	}
	p.last = time.Now()
	const width = 24
	n := width * done / max(total, 1)
	fmt.Fprintf(p.f, "\r\x1b[K[%s%s] %d of %d, %d bad, %.0f s  %s", strings.Repeat("#", n), strings.Repeat(" ", width-n), done, total, p.bad, time.Since(p.began).Seconds(), printable(r.CaseID))
}

func (p *progress) clear() {
	if p.on {
		fmt.Fprint(p.f, "\r\x1b[K")
	}
}
