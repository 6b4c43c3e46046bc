package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// longWay reads a command line of run as cobra does. ok is false when it is wrong, or
// asks for help.
func longWay(args []string) (*runFlags, *pflag.FlagSet, []string, bool) {
	f := &runFlags{}
	cmd := newRunFor(f)
	cmd.InitDefaultHelpFlag()
	cmd.SetFlagErrorFunc(func(*cobra.Command, error) error { return pflag.ErrHelp })
	err := cmd.ParseFlags(args[1:])
	help, _ := cmd.Flags().GetBool("help")
	return f, cmd.Flags(), cmd.Flags().Args(), err == nil && !help
}

// agree checks that the short way, where it takes a command line, reads it as the long
// way does, and gives whether it takes it.
func agree(t *testing.T, args []string) bool {
	t.Helper()
	f, got, command, ok := plainRun(args)
	if !ok {
		return false
	}
	want, fl, rest, good := longWay(args)
	if !good {
		t.Fatalf("%q: only the short way takes it", args)
	}
	if !reflect.DeepEqual(f, want) || !reflect.DeepEqual(command, rest) {
		t.Errorf("%q:\n got %+v %q\nwant %+v %q", args, f, command, want, rest)
	}
	fl.VisitAll(func(v *pflag.Flag) {
		if fl.Changed(v.Name) != got.Changed(v.Name) {
			t.Errorf("%q: flag %s: given %v, want %v", args, v.Name, got.Changed(v.Name), fl.Changed(v.Name))
		}
	})
	return true
}

// Every flag of run, in each of its spellings, is taken, and means the same.
func TestPlainRunFlags(t *testing.T) {
	newRunFor(&runFlags{}).Flags().VisitAll(func(v *pflag.Flag) {
		value := "a=b"
		if v.Value.Type() == "duration" {
			value = "90s"
		}
		lines := [][]string{{"--" + v.Name, value}, {"--" + v.Name + "=" + value}, {"--" + v.Name, value, "--" + v.Name, value + "s"}}
		if v.Value.Type() == "bool" {
			lines = [][]string{{"--" + v.Name}, {"--" + v.Name + "=true"}, {"--" + v.Name, "--" + v.Name}}
		}
		if v.Value.Type() == "duration" {
			lines[2][3] = "2m"
		}
		for _, line := range lines {
			for _, end := range [][]string{{"--", "cmd", "-x"}, {"cmd", "--", "--json"}, {"--", "--tty"}, {"-", "x"}, {"", "x"}} {
				args := append(append([]string{"run"}, line...), end...)
				if !agree(t, args) {
					t.Errorf("%q is not read the short way", args)
				}
			}
		}
	})
}

// What the short way does not know goes the long way.
func TestPlainRunLeaves(t *testing.T) {
	for _, line := range []string{
		"", "plan -- x", "run", "run --", "run --help", "run -h x", "run --nonsense x", "run -t x", "run -tv x", "run --tty=false x",
		"run --timeout soon x", "run --timeout", "run --json=maybe x", "run --policy", "run ---json x", "run --=x y", "run --network=on --",
	} {
		args := strings.Fields(line)
		if agree(t, args) {
			t.Errorf("%q was read the short way", args)
		}
	}
}

func FuzzPlainRun(f *testing.F) {
	f.Add("run --policy a --tty -- x --json")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		agree(t, args)
	})
}
