// Command qiming-sandbox-helper runs one command in a sandbox, with a command line
// of its own: that of the desktop client. On Windows it is what builds the sandbox.
package main

import "os"

func main() { os.Exit(execute(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})) }
