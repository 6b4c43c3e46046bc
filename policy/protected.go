package policy

import "sync"

// ProtectedName is one row of protected.json: something that lies where the sandbox
// can write and that a program outside reads or runs later (FS-04).
type ProtectedName struct {
	Name   string `json:"name"`            // for filesystem.allowProtected; never changes
	Match  string `json:"match"`           // a glob, relative to the root that Scope says
	Scope  string `json:"scope,omitempty"` // "": every writable root | "home": the home directory
	Kind   string `json:"kind"`            // file: the entry of that name alone | dir: with all below it
	Runs   string `json:"runs"`            // what outside runs it, and when
	Source string `json:"source"`          // where that is documented
}

// Review is something that runs later too, but is the work itself: it stays writable,
// and a person reviews it.
type Review struct {
	Match string `json:"match"`
	Runs  string `json:"runs"`
}

// Protected is the list of protected names, compiled in from protected.json. The
// caller must not change it.
func Protected() []ProtectedName { return protectedTable }

// LeftToReview is the list of what is not protected, for the docs and for reports.
func LeftToReview() []Review { return reviewTable }

var (
	protectedExact  = sync.OnceValue(func() []*Glob { return compileProtected(Compile) })
	protectedFolded = sync.OnceValue(func() []*Glob { return compileProtected(CompileFold) })
)

func compileProtected(compile func(string) (*Glob, error)) []*Glob {
	var globs []*Glob
	for _, p := range Protected() {
		g, err := compile(p.Match)
		if err != nil {
			panic("qsandbox/policy: protected.json: " + err.Error()) // a test compiles every row
		}
		globs = append(globs, g)
	}
	return globs
}

// ProtectedMatch gives the first row that protects a path, which is relative to a
// writable root; for rows of scope home it is relative to the home directory, which
// the caller sorts out by Scope. fold is for file systems that do not tell upper
// from lower case.
func ProtectedMatch(rel string, fold bool) (ProtectedName, bool) {
	globs := protectedExact
	if fold {
		globs = protectedFolded
	}
	for i, p := range Protected() {
		if globs()[i].Match(rel) || p.Kind == "dir" && globs()[i].MatchUpward(rel) {
			return p, true
		}
	}
	return ProtectedName{}, false
}
