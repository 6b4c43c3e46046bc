package spec

// RecordsOrigin is the origin of the rule that hides the launcher's records.
const RecordsOrigin = "records of the launcher"

// StoreEndings are the files next to a database that belong to it: SQLite's own
// (sqlite.org/tempfiles.html), and the snapshot of the policy.
var StoreEndings = []string{"", "-wal", "-shm", "-journal", ".snapshot"}

// store hides the user's policy.
//
// SECURITY: what a command writes there would be the policy of every later run. So the
// directory is also made when it is missing and the command could make it.
func (b *binder) store() {
	dir, file := StoreRoot(b.h), StoreFile(b.h)
	switch {
	case dir == "":
	case b.h.Exists(dir):
		b.addDeny(dir, storeOrigin)
	default:
		r, err := b.locate("store", dir)
		if err == nil && !b.s.User.Switch && b.inRoots(r.Path) {
			r.Access, r.Origin, r.Mount, r.Create = Deny, storeOrigin, true, true
			b.add(r)
		}
	}
	if file == "" || Within(dir, file) {
		return
	}
	for _, end := range StoreEndings {
		if b.h.Exists(file + end) {
			b.addDeny(file+end, storeOrigin)
		}
	}
}

const storeOrigin = "the user's stored policy"

// inRoots tells whether a path lies in a writable root.
func (b *binder) inRoots(path string) bool {
	for _, r := range b.roots {
		if Within(r.Path, path) {
			return true
		}
	}
	return false
}
