package supervise

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/report"
)

// Bounds of what is kept of the command's messages.
const (
	maxHints   = 256   // different refusals that are told of
	maxDenials = 100   // that are reported
	maxParsed  = 20000 // lines that are taken apart: more would cost a noisy command time
	maxSubject = 4096  // bytes of a path or host
)

// Hint is one message of the command that tells of a refused operation. It is the
// command's word, and no more: a program may say what it likes.
type Hint struct {
	Operations []string // what it may have wanted, the likeliest first: read, write, exec, connect
	Subject    string   // absolute path, host or host:port; "" is a host that the message does not name
	Missing    bool     // it said "no such file": a denial only where the sandbox hides things
	Busy       bool     // it said "busy": a mount point cannot be renamed or removed
}

// Judge says whether the plan explains a hint. It is asked when the command has ended.
type Judge func(Hint) (report.Denial, bool)

// hints are the different messages of one stream.
type hints struct {
	cwd    string
	list   []Hint
	seen   map[string]bool
	parsed int
	full   bool // there was more than could be kept
}

// add keeps a hint that is new. A relative path is taken from where the command
// started: where it went since is not known, and what follows is a guess anyway.
func (h *hints) add(n Hint) {
	if n.Operations[0] != "connect" && !filepath.IsAbs(n.Subject) {
		n.Subject = filepath.Join(h.cwd, n.Subject)
	}
	if len(n.Subject) > maxSubject || strings.IndexByte(n.Subject, 0) >= 0 {
		return
	}
	key := n.Operations[0] + " " + n.Subject
	if h.seen[key] {
		return
	}
	if len(h.list) == maxHints {
		h.full = true
		return
	}
	if h.seen == nil {
		h.seen = map[string]bool{}
	}
	h.seen[key] = true
	h.list = append(h.list, n)
}

// denials asks about every hint and gives what the plan explains, each once. A host
// without a name is told of only when no other host is.
func (h *hints) denials(judge Judge) (out []report.Denial, more bool) {
	slices.SortStableFunc(h.list, func(a, b Hint) int { return unnamed(a) - unnamed(b) })
	seen := map[[2]string]bool{}
	connects := false
	for _, n := range h.list {
		if n.Subject == "" && connects {
			continue
		}
		d, ok := judge(n)
		key := [2]string{d.Operation, d.Subject}
		if !ok || seen[key] {
			continue
		}
		if len(out) == maxDenials {
			return out, true
		}
		seen[key] = true
		connects = connects || d.Operation == "connect"
		d.Certain = false // whatever the judge thinks: we have only read a message
		out = append(out, d)
	}
	return out, h.full
}

func unnamed(h Hint) int {
	if h.Subject == "" {
		return 1
	}
	return 0
}

// denials is what came of the messages.
type denials struct {
	list []report.Denial
	more bool
}

// judge asks about the messages, when the last of them is there.
func (s *Session) judge() {
	if s.heard != nil {
		s.heard.close()
		s.denials.list, s.denials.more = s.heard.denials(s.opt.Judge)
	}
}

// Denials waits for the end and gives what the command's messages tell of and the plan
// explains; more says that there were others.
func (s *Session) Denials() (list []report.Denial, more bool) {
	<-s.done
	return s.denials.list, s.denials.more
}
