// Package fault holds the errors of qsandbox: a stable code, the operation that
// failed, what it failed on, and a hint that a person can act on.
//
// A command that fails or is denied is a result, not an error. A sandbox that
// cannot be built is an error. It is a leaf: it imports nothing of the product.
package fault

import (
	"errors"
	"strconv"
	"strings"
)

// Code is a stable name for a kind of error. Code strings never change once released.
type Code string

// The codes. docs/errors.md lists them with their meaning; a test keeps the two in step.
const (
	SandboxUnavailable   Code = "SANDBOX_UNAVAILABLE"
	SandboxUndetermined  Code = "SANDBOX_UNDETERMINED"
	PolicyInvalid        Code = "POLICY_INVALID"
	PolicyUnenforceable  Code = "POLICY_UNENFORCEABLE"
	PathInvalid          Code = "PATH_INVALID"
	PathOutsideWorkspace Code = "PATH_OUTSIDE_WORKSPACE"
	CommandNotFound      Code = "COMMAND_NOT_FOUND"
	CommandNotExecutable Code = "COMMAND_NOT_EXECUTABLE"
	LaunchFailed         Code = "LAUNCH_FAILED"
	Timeout              Code = "TIMEOUT"
	LimitExceeded        Code = "LIMIT_EXCEEDED"
	TerminalLimit        Code = "TERMINAL_LIMIT"
	HelperProtocol       Code = "HELPER_PROTOCOL"
	StoreFailed          Code = "STORE_FAILED"
	UsageInvalid         Code = "USAGE_INVALID"
	Internal             Code = "INTERNAL"
)

// Codes lists every code, in the order of docs/errors.md.
func Codes() []Code {
	return []Code{
		SandboxUnavailable, SandboxUndetermined, PolicyInvalid, PolicyUnenforceable,
		PathInvalid, PathOutsideWorkspace, CommandNotFound, CommandNotExecutable,
		LaunchFailed, Timeout, LimitExceeded, TerminalLimit, HelperProtocol,
		StoreFailed, UsageInvalid, Internal,
	}
}

// Sentinels for errors.Is. They match any Error with the same code.
var (
	ErrSandboxUnavailable   = &Error{Code: SandboxUnavailable}
	ErrSandboxUndetermined  = &Error{Code: SandboxUndetermined}
	ErrPolicyInvalid        = &Error{Code: PolicyInvalid}
	ErrPolicyUnenforceable  = &Error{Code: PolicyUnenforceable}
	ErrPathInvalid          = &Error{Code: PathInvalid}
	ErrPathOutsideWorkspace = &Error{Code: PathOutsideWorkspace}
	ErrCommandNotFound      = &Error{Code: CommandNotFound}
	ErrCommandNotExecutable = &Error{Code: CommandNotExecutable}
	ErrLaunchFailed         = &Error{Code: LaunchFailed}
	ErrTimeout              = &Error{Code: Timeout}
	ErrLimitExceeded        = &Error{Code: LimitExceeded}
	ErrStoreFailed          = &Error{Code: StoreFailed}
)

// Error is an error of the product.
type Error struct {
	Code    Code   // stable, for programs
	Op      string // the operation that failed, lower case: "bind workspace"
	Backend string // the backend concerned, or ""
	Subject string // the path, field or command it failed on; shown quoted
	Hint    string // what a person can do about it
	Err     error  // the cause, or nil
}

// New makes an error with a code, an operation, its subject and a hint.
func New(code Code, op, subject, hint string) *Error {
	return &Error{Code: code, Op: op, Subject: subject, Hint: hint}
}

// Wrap makes an error with a code around a cause.
func Wrap(code Code, op, subject string, err error) *Error {
	return &Error{Code: code, Op: op, Subject: subject, Err: err}
}

// WithHint returns a copy of e with the hint set.
func (e *Error) WithHint(hint string) *Error {
	c := *e
	c.Hint = hint
	return &c
}

// Error gives one line: operation, quoted subject, cause, then the hint.
// SECURITY: the subject may come from inside the sandbox; strconv.Quote keeps
// terminal sequences and newlines out of what people see (OBS-05).
func (e *Error) Error() string {
	var b strings.Builder
	if e.Backend != "" {
		b.WriteString(e.Backend + ": ")
	}
	b.WriteString(e.Op)
	if e.Subject != "" {
		b.WriteString(" " + strconv.Quote(short(e.Subject)))
	}
	if e.Err != nil {
		b.WriteString(": " + short(strings.ReplaceAll(e.Err.Error(), "\n", "; "))) // errors.Join puts each on a line
	}
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// longest is how much of a subject or a cause is shown, in bytes: enough for any path that
// the kernel takes in one call (PATH_MAX, 4096) to be told from another.
const longest = 1024

// short cuts the middle out of what would fill a screen.
func short(s string) string {
	if len(s) <= longest {
		return s
	}
	cut := len(s) - longest
	return strings.ToValidUTF8(s[:longest/2], "") + "[" + strconv.Itoa(cut) + " bytes more]" + strings.ToValidUTF8(s[len(s)-longest/2:], "")
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches by code alone, so that the sentinels work with errors.Is.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf gives the code of the first Error in err's chain, Internal for an
// error without one, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}
