package qsandbox

import (
	"path/filepath"

	"github.com/qiming-sandbox/qsandbox/internal/guard"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// newName says what becomes of a write to a protected name that no mount covers
// (FS-04): the answer of the rules alone would be that the folder is writable.
func (v *Verdict) newName(h host.Host, s *spec.Spec, q spec.Query, d spec.Verdict) spec.Verdict {
	if q.Op != spec.OpWrite || !d.Allowed || !s.Isolated() {
		return d
	}
	row, fresh := guard.Asked(newNames(s), filepath.ToSlash(q.Path), func(p string) bool { return h.Exists(filepath.FromSlash(p)) })
	if row == "" {
		return d
	}
	v.Protected = row
	prevent := s.Policy.Mode == policy.Strict || s.Policy.Filesystem.NewProtected == policy.PreventNew
	switch {
	case h.Exists(q.Path) || s.GOOS != "linux":
	case fresh:
		v.Notes = append(v.Notes, "part of a new repository, which is judged by its content after the run ("+row+")")
	case prevent:
		return spec.Verdict{Rule: "protected: " + row, Origin: "filesystem.newProtected prevent", Why: "the name runs code on the host later; filesystem.allowProtected: " + row + " allows it"}
	default:
		v.Notes = append(v.Notes, "a new protected name ("+row+"): it is found after the run and moved away (filesystem.newProtected)")
	}
	return d
}

// newNames is what the supervisor enforces about new names, and explain answers by.
func newNames(s *spec.Spec) guard.Config {
	return guard.Config{
		Roots: slashedAll(s.Protected.Roots), Given: slashedAll(written(s)), Homes: slashedAll(s.Protected.Homes), Allow: s.Protected.Allow,
	}
}

func slashedAll(list []string) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = filepath.ToSlash(p)
	}
	return out
}
