package qsandbox

import (
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// judged lets the backend that would run the command answer from its own plan,
// where it can. What the policy says and what the plan says should be the same;
// where they are not, the plan counts, and a note says so.
func (v *Verdict) judged(s *spec.Spec, q spec.Query, d spec.Verdict) spec.Verdict {
	name := s.Policy.Backend.String()
	if s.Policy.Backend == policy.Auto {
		name = backend.Candidates(policy.Auto, s.GOOS)[0]
	}
	j, ok := backendNamed(name).(backend.Judge)
	if !ok {
		return d
	}
	p, err := j.Judge(s, q)
	if err != nil {
		v.Notes = append(v.Notes, "the plan of "+name+" could not be asked: "+err.Error())
		return d
	}
	if p.Allowed == d.Allowed {
		v.Notes = append(v.Notes, name+", by our model of it: "+p.Rule)
		d.Absent = false // there it is refused, not missing
		return d
	}
	said := "denied"
	if d.Allowed {
		said = "allowed"
	}
	v.Notes = append(v.Notes, "by the policy alone it would be "+said+" ("+d.Rule+"); "+name+" decides, by our model of it")
	return p
}
