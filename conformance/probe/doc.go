// Package probe makes single system calls for conformance cases, where no program
// that is installed everywhere would.
//
// A call acts on the probe's own process, or on what it is given by name for the
// purpose (a decoy), or has an argument that the kernel refuses right after it has
// looked at the caller's rights. Such a refusal counts as "reached": the call was
// let in.
//
// reach opens paths that it is given on its input, and reads and writes nothing.
//
// Three kinds do more than that. terminal and memfd-exec run a program, and cell
// makes an environment and runs one in it. socket-* of a kind that the kernel has as
// a module would have it loaded: ask the probe "registered" first, as cases do. And
// what sends or connects reaches whatever it is pointed at. Harmless lists those
// that a case may call with the real root's rights.
package probe

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/conformance/cell"
)

// Exit codes of the probe.
const (
	Worked  = 0 // the call worked, or was reached
	Refused = 1
	Usage   = 2
)

// attempt is one thing to try.
type attempt struct {
	name string
	args string // names of its arguments
	what string
	do   func(args []string) error
}

// Main runs one probe and gives its exit code. The first line that it writes says
// what came of it.
func Main(args []string, out, msg io.Writer) int {
	list := attempts()
	if len(args) > 0 && args[0] == "terminal" && len(args) > 1 {
		return terminal(args[1:], out, msg)
	}
	if len(args) == 1 && args[0] == ReachName {
		return reach(os.Stdin, out, msg)
	}
	if len(args) > 0 && args[0] == cell.Name {
		return cell.Main(args[1:], msg)
	}
	if len(args) == 0 || args[0] == "list" {
		for _, a := range list {
			fmt.Fprintf(out, "%-44s %s\n", strings.TrimSpace(a.name+" "+a.args), a.what)
		}
		return Worked
	}
	i := slices.IndexFunc(list, func(a attempt) bool { return a.name == args[0] })
	if i < 0 {
		fmt.Fprintf(msg, "probe: there is no %q; probe list names them\n", args[0])
		return Usage
	}
	a := list[i]
	if want := len(strings.Fields(a.args)); len(args)-1 != want {
		fmt.Fprintf(msg, "probe: %s takes %d arguments: %s\n", a.name, want, a.args)
		return Usage
	}
	if err := a.do(args[1:]); err != nil {
		fmt.Fprintf(out, "%s: refused: %v\n", a.name, err)
		return Refused
	}
	fmt.Fprintf(out, "%s: worked\n", a.name)
	return Worked
}
