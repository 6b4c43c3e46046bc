package spec

import "strings"

// foldsCase tells whether the file systems of a system usually take ".ENV" for ".env".
func foldsCase(goos string) bool { return goos == "darwin" }

// covers tells whether a rule is about a path. Where the file system does not tell
// upper from lower case a rule that takes away counts in any case. One that gives
// does not: the real path is the name on the disk, and another spelling is refused.
func (s *Spec) covers(r Rule, op Op, path string) bool {
	return Within(r.Path, path) || foldsCase(s.GOOS) && r.takes(op) && withinFold(r.Path, path)
}

// takes tells whether a rule takes an operation away.
func (r Rule) takes(op Op) bool {
	return r.Access <= Private || r.Access == Read && (op == OpWrite || op == OpExec)
}

// withinFold is Within in any case, for systems whose separator is "/".
func withinFold(root, path string) bool {
	for root != "" {
		var a, b string
		a, root, _ = strings.Cut(root, "/")
		b, path, _ = strings.Cut(path, "/")
		if !strings.EqualFold(a, b) {
			return false
		}
	}
	return true
}
