// Package e2e tries real programs in the sandbox: version control, package
// managers, compilers, interpreters and shells, without a network. A program
// that is not installed is a skip with a reason; QSANDBOX_REQUIRE makes it a
// failure.
package e2e
