package main

import (
	"slices"
	"time"
)

// changes tells which flags were given.
type changes interface{ Changed(name string) bool }

// given are the names of flags that were given.
type given []string

// Changed tells whether one of them was.
func (g given) Changed(name string) bool { return slices.Contains(g, name) }

// plainRun reads the command line of run as nearly all are, without the making of
// commands, which costs a short run more than to read its policy. What it does not know,
// or what is wrong, is not ok: then the whole of it is read again, the long way. A test
// holds the two together, flag by flag.
func plainRun(args []string) (f *runFlags, got given, command []string, ok bool) {
	if len(args) == 0 || args[0] != "run" {
		return nil, nil, nil, false
	}
	f = &runFlags{}
	for args = args[1:]; len(args) > 0; {
		name, value, used := cutFlag(args)
		if used == 0 {
			if args[0] == "--" {
				args = args[1:]
			}
			break
		}
		if !f.take(name, value) {
			return nil, nil, nil, false
		}
		got, args = append(got, name), args[used:]
	}
	return f, got, args, len(args) > 0
}

// cutFlag takes a long flag off, with its value: what follows "=", else the next
// argument. used is how many arguments that takes if it has a value; 0 is no flag. A
// short flag is one that take does not know.
func cutFlag(args []string) (name, value string, used int) {
	arg := args[0]
	if len(arg) < 2 || arg[0] != '-' || arg == "--" {
		return "", "", 0
	}
	if arg[1] != '-' {
		return arg, "", 1
	}
	for i := 2; i < len(arg); i++ {
		if arg[i] == '=' {
			return arg[2:i], arg[i+1:], 1
		}
	}
	if slices.Contains(switches, arg[2:]) {
		return arg[2:], "true", 1
	}
	if len(args) == 1 {
		return arg, "", 1 // the value is missing: take does not know such a name
	}
	return arg[2:], args[1], 2
}

// switches are run's flags without a value.
var switches = []string{"stdin", "tty", "json", "verbose"}

// take sets one flag.
func (f *runFlags) take(name, value string) bool {
	for _, s := range []struct {
		name string
		to   *string
	}{
		{"policy", &f.policy}, {"workspace", &f.workspace}, {"backend", &f.backend}, {"mode", &f.mode},
		{"network", &f.network}, {"cwd", &f.cwd}, {"user", &f.user}, {"report", &f.report},
	} {
		if s.name == name {
			*s.to = value
			return true
		}
	}
	for _, s := range []struct {
		name string
		to   *bool
	}{{"stdin", &f.stdin}, {"tty", &f.tty}, {"json", &f.json}, {"verbose", &f.verbose}} {
		if s.name == name {
			*s.to = true
			return value == "true"
		}
	}
	var err error
	switch name {
	case "writable":
		f.writable = append(f.writable, value)
	case "env":
		f.env = append(f.env, value)
	case "timeout":
		f.timeout, err = time.ParseDuration(value)
	default:
		return false
	}
	return err == nil
}
