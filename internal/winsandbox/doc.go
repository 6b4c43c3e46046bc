// Package winsandbox builds the sandbox of the Windows helper: which entries go into
// which access-control lists, which token the command gets, its environment and
// command line, and what is undone afterwards.
//
// Everything that decides is pure and built on every system; it can be tested with
// the model in package winacl. Only the files *_windows.go call Windows, and each
// call reads back what it asked for: a token or a list that did not take is refused.
package winsandbox
