package acpterm

import (
	"context"
	"encoding/json"
)

// The methods.
const (
	MethodCreate  = "terminal/create"
	MethodOutput  = "terminal/output"
	MethodWait    = "terminal/wait_for_exit"
	MethodKill    = "terminal/kill"
	MethodRelease = "terminal/release"
)

// empty is the answer of kill and release: {}.
type empty struct{}

// Call answers one request as it came over the wire: params is the JSON of its
// params, the result is what to write as JSON. Errors are of type *Error. When ctx
// ends (the agent sent $/cancel_request) the answer is CodeCancelled at once. Call
// waits: serve other requests meanwhile.
func (t *Terminals) Call(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if method == MethodCreate {
		r, bad := readCreate(params)
		if bad != nil {
			return nil, bad
		}
		id, err := t.Create(ctx, r)
		if err != nil {
			return nil, err
		}
		return struct {
			ID string `json:"terminalId"`
		}{id}, nil
	}
	session, id, bad := readTerminal(params)
	if bad != nil {
		return nil, bad
	}
	switch method {
	case MethodOutput:
		return answer(t.Output(session, id))
	case MethodWait:
		return answer(t.Wait(ctx, session, id))
	case MethodKill:
		return answer(empty{}, t.Kill(ctx, session, id))
	case MethodRelease:
		return answer(empty{}, t.Release(ctx, session, id))
	}
	return nil, &Error{Code: CodeMethod, Message: "method not found: " + clip(method)}
}

func answer[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}
