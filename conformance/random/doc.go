// Package random looks for disagreements that nobody thought of: it makes up a
// policy, a tree and operations, has a sandbox perform them, and compares three
// answers to each (CNF-08): what the kernel did, what explain said, and what a
// second, simple reading of the rules says, which shares no code with the first.
//
// Everything happens in a directory that is made for it. A failing world is made
// smaller and printed as a case file.
package random
