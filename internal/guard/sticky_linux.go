//go:build amd64 || arm64

package guard

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// stickyRules are the kernel's rules for directories like /tmp that all may write,
// which it applies to the last part of a path that it walks itself and so not to
// ours: fs.protected_symlinks, _regular and _fifos (proc_sys_fs(5), fs/namei.c).
type stickyRules struct{ symlinks, regular, fifos byte }

func readStickyRules() stickyRules {
	return stickyRules{sysctl("symlinks"), sysctl("regular"), sysctl("fifos")}
}

// sysctl reads one; a kernel where it cannot be read is taken at its strictest usual one.
func sysctl(name string) byte {
	v, err := os.ReadFile("/proc/sys/fs/protected_" + name)
	if v = bytes.TrimSpace(v); err != nil || len(v) != 1 {
		return 1
	}
	return v[0] - '0'
}

// mayFollow is may_follow_link of fs/namei.c.
func (s stickyRules) mayFollow(dir int, link *unix.Stat_t) bool {
	if s.symlinks == 0 || int(link.Uid) == unix.Geteuid() {
		return true
	}
	var st unix.Stat_t
	if unix.Fstat(dir, &st) != nil {
		return false
	}
	const open = unix.S_ISVTX | 0o002
	return st.Mode&open != open || st.Uid == link.Uid
}

// mayReuse is may_create_in_sticky of fs/namei.c: whether an open with O_CREAT may
// take what is there.
func (s stickyRules) mayReuse(dir int, st *unix.Stat_t) bool {
	rule := byte(0)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		rule = s.regular
	case unix.S_IFIFO:
		rule = s.fifos
	}
	if rule == 0 || int(st.Uid) == unix.Geteuid() {
		return true
	}
	var d unix.Stat_t
	if unix.Fstat(dir, &d) != nil {
		return false
	}
	return d.Mode&unix.S_ISVTX == 0 || d.Uid == st.Uid || d.Mode&0o002 == 0 && (d.Mode&0o020 == 0 || rule < 2)
}
