// Command qsandbox-store reads and writes the database with the user's policy, for
// qsandbox, which does not link SQLite: that would cost every run more than half of a
// millisecond. People use qsandbox policy.
package main

import (
	"os"

	"github.com/qiming-sandbox/qsandbox/internal/store"
)

func main() { os.Exit(store.Serve(os.Stdin, os.Stdout)) }
