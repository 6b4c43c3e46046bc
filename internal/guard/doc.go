// Package guard keeps new protected names from coming into being (FS-04): it is
// the supervisor to which the seccomp filter sends every call that creates,
// renames or links a name, and it makes these calls itself.
//
// # Why it makes the calls itself
//
// A notified call names its paths by pointers into memory that its process can
// change at any time. Letting the call go on (SECCOMP_USER_NOTIF_FLAG_CONTINUE)
// after a look at the path decides nothing: seccomp_unotify(2) says so. So the
// path is read once, resolved once to a descriptor of the parent directory and a
// last part, judged by the real path of that directory, and the call is made on
// exactly these two. No answer is ever "go on".
//
// # How the caller's rights are kept
//
// Each worker is an OS thread of its own with its own umask and directory
// (unshare(CLONE_FS)), the command's user and no capability in force. It reaches
// files through /proc/<pid>/root, cwd and fd of the caller, so the caller's mounts
// hold: a read-only place is read-only for the worker too. What does not hold is the
// caller's Landlock domain; Config.Places stands in for it.
//
// # What is decided
//
// judge.go and docs/adr/0003-create-supervisor.md have the table. Names that
// existed before the run are the business of the mounts (package protect).
//
// Sources: seccomp_unotify(2), openat2(2), path_resolution(7), proc(5),
// kernel fs/namei.c, kernel/seccomp.c.
package guard
