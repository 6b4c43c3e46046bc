package acpterm

import (
	"context"
	"errors"
	"fmt"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/jsonrpc"
)

// Error is what the agent gets when a call fails. It is never about what the
// command did: that is a result.
type Error struct {
	Code    int    // of JSON-RPC, or of the protocol: -32002, -32800
	Message string // one line
	Fault   error  // the cause, a *fault.Error where it is one of ours; nil for a bad request
}

// Codes of errors.
const (
	CodeParams    = jsonrpc.CodeParams    // the request is not as the protocol has it, or its cwd is outside
	CodeMethod    = jsonrpc.CodeMethod    // no method of a terminal
	CodeInternal  = jsonrpc.CodeInternal  // the command could not be started, or too many terminals
	CodeNotFound  = jsonrpc.CodeNotFound  // the session has no such terminal
	CodeCancelled = jsonrpc.CodeCancelled // the agent cancelled the request
)

// Error gives the message.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Fault }

func badParams(format string, args ...any) *Error {
	return &Error{Code: CodeParams, Message: "invalid params: " + fmt.Sprintf(format, args...)}
}

// unknown is the answer for a terminal that is not there, and for one that belongs to
// another session: nobody learns which.
func unknown(id string) *Error {
	return &Error{Code: CodeNotFound, Message: fmt.Sprintf("resource not found: this session has no terminal %q", clip(id))}
}

// wrap turns an error of ours into an answer.
func wrap(err error) *Error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeCancelled, Message: "request cancelled", Fault: err}
	}
	code := CodeInternal
	switch fault.CodeOf(err) {
	case fault.PathOutsideWorkspace, fault.PathInvalid, fault.UsageInvalid:
		code = CodeParams
	}
	return &Error{Code: code, Message: err.Error(), Fault: err}
}

// clip keeps a message short, whatever an agent sent.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// FaultCode gives the code of the cause, "" when it is none of ours.
func (e *Error) FaultCode() fault.Code {
	if _, ours := errors.AsType[*fault.Error](e.Fault); !ours {
		return ""
	}
	return fault.CodeOf(e.Fault)
}
