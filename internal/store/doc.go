// Package store keeps the user's policy in an SQLite database: under the key
// sandbox_policy of the table settings(key, value), which is the desktop client's own
// form, so that its database can be taken over where it is. Next to it are tables of ours
// with every change and every migration; an older program does not look at them.
//
// Each change is one transaction, flushed to the disk; before a migration the policy is
// written to a file of its own. So at any moment there is a whole policy to read, the old
// or the new one.
//
// Only qsandbox-store imports this package; see package snapshot.
package store
