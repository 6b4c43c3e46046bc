// Package conformance shows by trying what a sandbox keeps out and what it lets
// through.
//
// A case is a file under cases: what is tried, how it is known to have worked, and
// what must work all the same. Each deny case is first made without the sandbox, on
// decoys in a throw-away place; if it does not work there, the case is invalid and
// proves nothing (CNF-03). Runs go through package qsandbox only, or through any
// other sandbox that is given as a command template.
package conformance
