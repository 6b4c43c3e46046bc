// Package snapshot reads the user's stored policy without SQLite.
//
// A run lasts a few milliseconds, and linking SQLite costs each of them more than half of
// one. So the database is the business of a program of its own, qsandbox-store, and next
// to the database lies a snapshot: the policy, and the identity of the database's files
// when it was read. While they are the same files the snapshot is the policy. Otherwise,
// and whenever there is a doubt, qsandbox-store is asked.
//
// SECURITY: a snapshot that is old, damaged or not ours is never used: the answer then
// comes from the database or there is an error. It is as safe as the database itself: both
// belong to the user, nobody else may write them, and the sandbox hides them.
package snapshot
