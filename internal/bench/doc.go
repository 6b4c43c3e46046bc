// Command bench measures what a sandbox costs: the start of /bin/true as a whole
// process and from a running Go program, against a bare start and plain bubblewrap in
// the same run; work inside; memory. "make bench" runs it.
//
// Variants take turns, in a new order each round, so that what else the machine does
// falls on all of them; ratios are taken round by round.
package main
