// Package protect keeps what runs later on the host out of the hands of a
// sandboxed command: git hooks and settings, shell start files, editor and agent
// settings inside writable roots (FS-04), and it opens a linked worktree's git
// folder when that is confirmed from both sides (FS-08).
//
// Before a run, Scan finds what exists; the backends mount it read-only or pin it.
// A Journal is written, so that a run whose launcher was killed is looked at too.
// After the run, Check walks again and tells what is new or changed, and Quarantine
// moves it out of the workspace. Nothing is deleted and no program is ever run.
//
// Everything below a root is hostile: it is read through host.Host, which follows
// no link in the last part, does not block and is bounded.
package protect
