// Package cell makes throw-away environments for commands that are run without a
// sandbox, or in one that may be none: controls of cases, other people's wrappers,
// plans weakened on purpose.
//
// A cell has mount, pid, ipc, uts and network namespaces of its own. Its root is a
// small tmpfs: the system's directories are bound into it read-only, /dev, /proc,
// /tmp, /run and /home are its own, and nothing of the host can be written, by name
// or by process. As root, it has a user namespace whose root is nobody outside. If
// any of this cannot be made, the command is not run (CNF-03).
package cell
