package helpercmd

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Sub is what the helper does with a command.
type Sub uint8

// The two ways.
const (
	Run   Sub = iota // captures, and prints one JSON object
	Serve            // passes input and output on
)

// String gives the word of the command line.
func (s Sub) String() string { return [...]string{"run", "serve"}[s] }

// Wish is what the caller said about restricting writing.
type Wish uint8

// The wishes.
const (
	Unsaid Wish = iota
	Restricted
	NotRestricted
)

// Command is one command line of the helper.
type Command struct {
	Sub       Sub
	Mode      policy.WindowsMode
	Cwd       string
	Home      string // where the helper keeps its records; "" is its usual place
	Policy    Policy
	Wish      Wish
	Audit     string   // best-effort | enforce
	DenyWrite []string // stays read-only inside the roots, beside what the helper finds itself
	NewNames  string   // helper | caller: who looks for protected names
	PassEnv   []string // variables let through beside the safe list
	Timeout   time.Duration
	Memory    int64 // bytes, for the whole tree
	Processes int
	CPUs      float64
	Output    int64 // bytes kept of each stream
	Report    string
	TTY       bool
	Size      Size    // of the terminal at the start
	Sizes     uintptr // handle of a pipe that tells changes, one a line; 0: none
	Argv      []string
}

// flags take a value each, except those in switches.
var flags = sync.OnceValue(func() map[string]func(*Command, string) error {
	return map[string]func(*Command, string) error{
		"--mode": func(c *Command, v string) (err error) {
			c.Mode, err = policy.ParseWindowsMode(v)
			return hint(err, "--mode", v, "it is read-only or workspace-write")
		},
		"--cwd":         func(c *Command, v string) error { c.Cwd = v; return filled("--cwd", v) },
		"--home":        func(c *Command, v string) error { c.Home = v; return filled("--home", v) },
		"--policy-json": func(c *Command, v string) (err error) { c.Policy, err = ParsePolicy(v); return err },
		"--audit": func(c *Command, v string) error {
			c.Audit = v
			if v != "best-effort" && v != "enforce" {
				return bad("--audit", v, "it is best-effort or enforce")
			}
			return nil
		},
		"--protected": func(c *Command, v string) error {
			c.NewNames = v
			if v != "helper" && v != "caller" {
				return bad("--protected", v, "it is helper or caller")
			}
			return nil
		},
		"--deny-write": func(c *Command, v string) error {
			c.DenyWrite = append(c.DenyWrite, v)
			return filled("--deny-write", v)
		},
		"--pass-env": func(c *Command, v string) error {
			c.PassEnv = append(c.PassEnv, v)
			return filled("--pass-env", v)
		},
		"--timeout": func(c *Command, v string) (err error) {
			c.Timeout, err = time.ParseDuration(v)
			if err == nil && c.Timeout < 0 {
				return bad("--timeout", v, "a time limit is not negative")
			}
			return hint(err, "--timeout", v, "write it like 90s or 10m")
		},
		"--memory":    func(c *Command, v string) error { return count("--memory", v, &c.Memory) },
		"--output":    func(c *Command, v string) error { return count("--output", v, &c.Output) },
		"--processes": processes,
		"--cpus":      cpus,
		"--size":      size,
		"--sizes":     sizes,
		"--report":    func(c *Command, v string) error { c.Report = v; return filled("--report", v) },
	}
})

func size(c *Command, v string) (err error) {
	c.Size, err = ParseSize(v)
	return hint(err, "--size", v, "write it like 80x25")
}

func sizes(c *Command, v string) error {
	n, err := strconv.ParseUint(v, 10, 32) // handles have 32 bits that count (MSDN, Interprocess Communication Between 32-bit and 64-bit Applications)
	c.Sizes = uintptr(n)
	if n == 0 {
		err = strconv.ErrRange
	}
	return hint(err, "--sizes", v, "give the number of an inherited pipe")
}

var switches = sync.OnceValue(func() map[string]func(*Command) {
	return map[string]func(*Command){
		"--write-restricted":    func(c *Command) { c.Wish = Restricted },
		"--no-write-restricted": func(c *Command) { c.Wish = NotRestricted },
		"--tty":                 func(c *Command) { c.TTY = true },
	}
})

func bad(flag, v, text string) error { return fault.New(fault.UsageInvalid, "read "+flag, v, text) }

func hint(err error, flag, v, text string) error {
	if err == nil {
		return nil
	}
	return bad(flag, v, text)
}

func filled(flag, v string) error {
	if v == "" || strings.IndexByte(v, 0) >= 0 {
		return bad(flag, v, "it must not be empty and cannot contain a NUL byte")
	}
	return nil
}

func count(flag, v string, into *int64) error {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		return bad(flag, v, "give a number of bytes")
	}
	*into = n
	return nil
}

func processes(c *Command, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 1<<20 {
		return bad("--processes", v, "give a number of processes")
	}
	c.Processes = n
	return nil
}

func cpus(c *Command, v string) error {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || n < 0 || n > 4096 || n != n {
		return bad("--cpus", v, "give a number of processors, such as 1.5")
	}
	c.CPUs = n
	return nil
}

// Parse reads what stands behind run or serve.
func Parse(sub Sub, args []string) (Command, error) {
	c := Command{Sub: sub, Audit: "best-effort", NewNames: "helper", Policy: Policy{Type: policy.ReadOnly, Mode: policy.Strict}}
	seen := map[string]bool{}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if a == "--" {
			c.Argv = args
			break
		}
		flag, value, inline := strings.Cut(a, "=")
		if set := switches()[flag]; set != nil && !inline {
			set(&c)
			seen[flag] = true
			continue
		}
		set := flags()[flag]
		if set == nil {
			return c, fault.New(fault.UsageInvalid, "read the command line", a, "there is no such option; the command stands behind --")
		}
		if !inline {
			if len(args) == 0 {
				return c, bad(flag, "", "its value is missing")
			}
			value, args = args[0], args[1:]
		}
		if seen[flag] && flag != "--deny-write" && flag != "--pass-env" {
			return c, bad(flag, value, "it is given twice")
		}
		seen[flag] = true
		if err := set(&c, value); err != nil {
			return c, err
		}
	}
	return c, c.check(seen)
}

// check settles what the options say together.
func (c *Command) check(seen map[string]bool) error {
	switch {
	case !seen["--mode"]:
		return bad("--mode", "", "it is missing; it is read-only or workspace-write")
	case !seen["--cwd"]:
		return bad("--cwd", "", "it is missing; name the directory to start in")
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return fault.New(fault.UsageInvalid, c.Sub.String(), "", "no command was given; it stands behind --")
	case seen["--write-restricted"] && seen["--no-write-restricted"]:
		return bad("--write-restricted", "", "it and --no-write-restricted exclude each other")
	case c.TTY && c.Sub == Run:
		return bad("--tty", "", "run captures output; only serve has a terminal")
	case !c.TTY && (seen["--size"] || seen["--sizes"]):
		return bad("--size", "", "only a terminal has one; say --tty as well")
	}
	if !seen["--policy-json"] {
		c.Policy = Preset(c.Mode)
	}
	if c.Policy.Type != c.Mode {
		return fault.New(fault.PolicyInvalid, "read --policy-json type", c.Policy.Type.String(), "--mode says "+c.Mode.String()+"; they must agree")
	}
	return c.enforceable()
}

// WriteRestricted tells whether the token asks restricting identifiers (WIN-03): run
// always, serve only when told; but strict and read-only cannot be kept without.
func (c *Command) WriteRestricted() bool {
	switch c.Wish {
	case Restricted:
		return true
	case NotRestricted:
		return false
	}
	return c.Sub == Run || c.Policy.Mode == policy.Strict || c.Mode == policy.ReadOnly && c.Policy.Mode != policy.Permissive
}

// enforceable refuses a combination that promises what it cannot keep.
func (c *Command) enforceable() error {
	if c.WriteRestricted() || c.Policy.Mode == policy.Permissive {
		return nil
	}
	what := ""
	switch {
	case c.Policy.Mode == policy.Strict:
		what = "sandbox_mode strict"
	case c.Mode == policy.ReadOnly:
		what = "mode read-only"
	default:
		return nil
	}
	return fault.New(fault.PolicyUnenforceable, "keep "+what, "",
		"--no-write-restricted leaves nothing that would keep the command from writing; leave it out, or say sandbox_mode permissive")
}

// Args writes the command line that Parse reads, with the subcommand first.
func (c *Command) Args() []string {
	out := []string{c.Sub.String(), "--mode", c.Mode.String(), "--cwd", c.Cwd, "--policy-json", c.Policy.JSON()}
	add := func(on bool, words ...string) {
		if on {
			out = append(out, words...)
		}
	}
	add(c.Home != "", "--home", c.Home)
	add(c.Wish == Restricted, "--write-restricted")
	add(c.Wish == NotRestricted, "--no-write-restricted")
	add(c.Audit == "enforce", "--audit", c.Audit)
	add(c.NewNames == "caller", "--protected", c.NewNames)
	for _, p := range c.DenyWrite {
		add(true, "--deny-write", p)
	}
	for _, n := range c.PassEnv {
		add(true, "--pass-env", n)
	}
	add(c.Timeout > 0, "--timeout", c.Timeout.String())
	add(c.Memory > 0, "--memory", strconv.FormatInt(c.Memory, 10))
	add(c.Processes > 0, "--processes", strconv.Itoa(c.Processes))
	add(c.CPUs > 0, "--cpus", strconv.FormatFloat(c.CPUs, 'g', -1, 64))
	add(c.Output > 0, "--output", strconv.FormatInt(c.Output, 10))
	add(c.Report != "", "--report", c.Report)
	add(c.TTY, "--tty")
	add(c.Size != Size{}, "--size", c.Size.String())
	add(c.Sizes != 0, "--sizes", strconv.FormatUint(uint64(c.Sizes), 10))
	return append(append(out, "--"), c.Argv...)
}
