// Package backendtest is the contract that every backend passes: a table of what
// a command may and may not do, tried with real commands on this machine, as
// root and as an ordinary user. The tests are its content; the rest are their
// means, which internal/e2e uses too.
//
// Every deny has an allow twin (the sandbox is not simply broken) and a control:
// the same command without the sandbox succeeds (the attempt is not simply wrong).
//
// Switches: QSANDBOX_LONG=1 runs the long variants; QSANDBOX_REQUIRE=a,b turns a
// skip for want of a, b into a failure.
package backendtest
