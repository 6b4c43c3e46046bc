package main

import "github.com/rogpeppe/go-internal/testscript"

// fifo is not for Windows: its named pipes are no files.
func fifo(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no FIFO on Windows") }
