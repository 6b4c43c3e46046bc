package sbpl

import "slices"

// Order is a reading of which rule wins.
type Order uint8

const (
	// LastMatch: of all rules that match, whatever operation they name, the last
	// one wins. So the guides have it, and most authors of profiles.
	LastMatch Order = iota
	// Nearest: rules that name the operation itself come before rules that name a
	// more general one, wherever they stand; among equals the last one wins. So the
	// compiled form suggests, where each operation has a table of its own that falls
	// back to the next general one, and so some authors found it.
	Nearest
)

// Orders are both readings.
var Orders = []Order{LastMatch, Nearest}

// String names the reading.
func (o Order) String() string { return [...]string{"last match", "nearest operation"}[o] }

// Request is one thing that a process wants to do.
type Request struct {
	Op       string              // without a star, for example file-read-data; or with one, for any of them
	Path     string              // the real path
	Name     string              // of a service, a sysctl, a semaphore …
	Proto    string              // tcp, udp, unix
	Loopback bool                // the address is the machine itself
	Port     int                 //
	Words    map[string][]string // by filter: target, vnode-type, socket-domain …
}

// Verdict is the answer. Rule is nil when the default decided.
type Verdict struct {
	Allowed bool
	Rule    *Rule
}

// Decide judges a request by one reading. The error is about an operation that
// there is not.
func (p *Profile) Decide(q Request, order Order) (Verdict, error) {
	op, ok := known(q.Op)
	if !ok {
		return Verdict{}, badf(0, "there is no operation %q", q.Op)
	}
	q.Op = op
	v := Verdict{Allowed: p.Default == Allow}
	best := -1
	chain := above()[op]
	for i := range p.Rules {
		r := &p.Rules[i]
		rank := r.rank(chain)
		if rank < 0 || order == Nearest && best >= 0 && rank > best || !r.matches(&q) {
			continue
		}
		best, v.Allowed, v.Rule = rank, r.Action == Allow, r
	}
	return v, nil
}

// rank says how near the operations of a rule are to the one asked for: 0 is
// itself, -1 is not at all.
func (r *Rule) rank(chain []string) int {
	return slices.IndexFunc(chain, func(op string) bool { return slices.Contains(r.Ops, op) })
}

func (r *Rule) matches(q *Request) bool {
	if len(r.Filters) == 0 {
		return true
	}
	for i := range r.Filters {
		if r.Filters[i].matches(q) {
			return true
		}
	}
	return false
}

// Bind gives the profile with its parameters filled in.
func (p *Profile) Bind(params map[string]string) *Profile {
	out := &Profile{Default: p.Default, Rules: slices.Clone(p.Rules)}
	for i := range out.Rules {
		out.Rules[i].Filters = bindAll(out.Rules[i].Filters, params)
	}
	return out
}

func bindAll(list []Filter, params map[string]string) []Filter {
	out := slices.Clone(list)
	for i := range out {
		out[i].Sub = bindAll(out[i].Sub, params)
		out[i].Values = slices.Clone(out[i].Values)
		for j, v := range out[i].Values {
			if len(v) > len(paramMark) && v[:len(paramMark)] == paramMark {
				out[i].Values[j] = params[v[len(paramMark):]]
			}
		}
	}
	return out
}

// same tells whether two profiles say the same. Comments and lines do not count.
func same(a, b *Profile) bool {
	return a.Default == b.Default && slices.EqualFunc(a.Rules, b.Rules, func(x, y Rule) bool {
		return x.Action == y.Action && slices.EqualFunc(x.Ops, y.Ops, sameOp) && slices.Equal(x.Modifiers, y.Modifiers) &&
			slices.EqualFunc(x.Filters, y.Filters, sameFilter)
	})
}

func sameOp(a, b string) bool {
	a, _ = known(a)
	b, _ = known(b)
	return a == b
}

func sameFilter(a, b Filter) bool {
	return a.Name == b.Name && slices.Equal(a.Values, b.Values) && slices.EqualFunc(a.Sub, b.Sub, sameFilter)
}
