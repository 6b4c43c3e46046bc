package seccomp

import "fmt"

// Action is what happens to a call that a rule matches. The zero value is the
// strictest one.
type Action uint8

// The actions, strictest first.
const (
	Kill   Action = iota // end the process with SIGSYS (SECCOMP_RET_KILL_PROCESS)
	Refuse               // the call fails with the row's errno (SECCOMP_RET_ERRNO)
	Notify               // a supervisor decides and acts (SECCOMP_RET_USER_NOTIF)
	Allow                // the call goes on to the kernel (SECCOMP_RET_ALLOW)
)

// String returns the action's name as the documentation shows it.
func (a Action) String() string {
	return [...]string{"kill", "refuse", "notify", "allow"}[a]
}

// Errno is a Linux error number; those below are the same on amd64 and arm64.
type Errno uint16

// The errors that the table uses (include/uapi/asm-generic/errno*.h).
const (
	EPERM           Errno = 1
	ENOSYS          Errno = 38
	EPROTONOSUPPORT Errno = 93
	EAFNOSUPPORT    Errno = 97
)

// String returns the symbolic name, or "" for 0.
func (e Errno) String() string {
	switch e {
	case 0:
		return ""
	case EPERM:
		return "EPERM"
	case ENOSYS:
		return "ENOSYS"
	case EPROTONOSUPPORT:
		return "EPROTONOSUPPORT"
	case EAFNOSUPPORT:
		return "EAFNOSUPPORT"
	}
	return fmt.Sprintf("errno %d", uint16(e))
}

// Op is a comparison of the low 32 bits of an argument.
type Op uint8

// The comparisons.
const (
	Eq       Op = iota // argument == Value
	MaskedEq           // argument & Mask == Value
	AnyBits            // argument & Mask != 0
	In                 // argument is one of Set
)

// Cond is one condition of a rule: argument Arg (0 to 5), compared by Op.
type Cond struct {
	Arg   uint8
	Op    Op
	Mask  uint32
	Value uint32
	Set   []uint32
}

// holds reports whether the condition is true of the argument's low half.
func (c Cond) holds(arg uint64) bool {
	low := uint32(arg) // SECURITY: the kernel reads 32 bits, so the high half must not count.
	switch c.Op {
	case Eq:
		return low == c.Value
	case MaskedEq:
		return low&c.Mask == c.Value
	case AnyBits:
		return low&c.Mask != 0
	case In:
		for _, v := range c.Set {
			if low == v {
				return true
			}
		}
	}
	return false
}

// String shows the condition as text for documentation: "arg1 & 0xc00 != 0".
func (c Cond) String() string {
	switch c.Op {
	case Eq:
		return fmt.Sprintf("arg%d == %#x", c.Arg, c.Value)
	case MaskedEq:
		return fmt.Sprintf("arg%d & %#x == %#x", c.Arg, c.Mask, c.Value)
	case AnyBits:
		return fmt.Sprintf("arg%d & %#x != 0", c.Arg, c.Mask)
	}
	return fmt.Sprintf("arg%d in %#x", c.Arg, c.Set)
}

// Gate says under which option a row is in force.
type Gate uint8

// The gates.
const (
	Always          Gate = iota
	IfNested             // Options.Nested
	IfNotify             // Options.Notify
	IfOpenat2Allow       // Options.Openat2 == Openat2Allow
	IfOpenat2Notify      // Options.Openat2 == Openat2Notify
)

// String names the option that puts the row in force, "" for Always.
func (g Gate) String() string {
	return [...]string{"", "nested", "notify", "openat2=allow", "openat2=notify"}[g]
}

// open reports whether rows behind the gate are in force.
func (g Gate) open(o Options) bool {
	switch g {
	case Always:
		return true
	case IfNested:
		return o.Nested
	case IfNotify:
		return o.Notify
	case IfOpenat2Allow:
		return o.Openat2 == Openat2Allow
	case IfOpenat2Notify:
		return o.Openat2 == Openat2Notify
	}
	return false
}

// Rule is one row of the table. The rows of a call stand together; the first one
// in force whose conditions all hold decides, and the last has no condition.
type Rule struct {
	Call   string // name as in the kernel's unistd.h
	AMD64  int16  // number on amd64, -1 where the call does not exist
	ARM64  int16  // number on arm64, likewise
	Gate   Gate
	When   []Cond // all must hold; none: the row always matches
	Action Action
	Errno  Errno  // of Refuse
	Reason string // why the row is as it is
	Docker string // why it differs from Docker's default profile; "" where it does not

	hot bool // called so often that it belongs near the root of the search tree
}

// none marks a call that an architecture does not have.
const none = -1

// Number returns the row's system call number on arch, and whether it has one.
func (r Rule) Number(arch string) (uint32, bool) {
	n := r.ARM64
	if arch == "amd64" {
		n = r.AMD64
	}
	return uint32(n), n != none
}

// Openat2 says what becomes of openat2(2), whose flags and mode are behind a
// pointer that a filter cannot read. The table's row argues the default.
type Openat2 uint8

// The ways to treat openat2.
const (
	Openat2Refuse Openat2 = iota // ENOSYS: programs fall back to openat
	Openat2Allow                 // for a libc whose programs do not fall back; see the row
	Openat2Notify                // every call to the supervisor, which must check the mode itself
)

// Options choose among the filters that the table can give. The zero value of
// each field but Arch is the strictest.
type Options struct {
	Arch    string  // "amd64" or "arm64" (GOARCH)
	Nested  bool    // exec.nested: the command may make its own user namespaces and mounts in them
	Notify  bool    // calls that create names go to a supervisor (FS-04)
	Openat2 Openat2 // what becomes of openat2
}

// check refuses options that contradict each other.
func (o Options) check() error {
	if _, ok := archOf(o.Arch); !ok {
		return fmt.Errorf("seccomp: no system call table for architecture %q", o.Arch)
	}
	if o.Openat2 > Openat2Notify {
		return fmt.Errorf("seccomp: unknown openat2 treatment %d", o.Openat2)
	}
	if o.Notify && o.Openat2 == Openat2Allow {
		return fmt.Errorf("seccomp: openat2 cannot be allowed while creating calls are supervised: it would pass by the supervisor")
	}
	if !o.Notify && o.Openat2 == Openat2Notify {
		return fmt.Errorf("seccomp: openat2 cannot be supervised without a supervisor (Notify)")
	}
	return nil
}

// Table returns every row, in the order of the filter's reading: first the calls
// that are simply allowed, then those with conditions or refusals. The caller
// owns the slice, not what the conditions point to.
func Table() []Rule {
	all := make([]Rule, 0, len(plain)+len(rules))
	for _, p := range plain {
		all = append(all, Rule{Call: p.call, AMD64: p.amd64, ARM64: p.arm64, Action: Allow, Reason: plainReason, hot: p.hot})
	}
	return append(all, rules[:]...)
}

// Newest is the highest number that the table knows. What is above gives ENOSYS.
const Newest = 471
