package mcpserver

import (
	"fmt"
	"strings"
	"time"
)

// tool is what a client can call.
type tool struct {
	do func(*session, *call) *outcome
}

// toolNamed gives a tool. Bash has the name and the arguments that models know.
func toolNamed(name string) (tool, bool) {
	switch name {
	case "Bash":
		return tool{(*session).bash}, true
	case "BashOutput":
		return tool{(*session).bashOutput}, true
	case "BashStop":
		return tool{(*session).bashStop}, true
	}
	return tool{}, false
}

// list is tools/list. There is one page.
func (c *session) list(m message) (map[string]any, *rpcError) {
	if raw, ok := m.params["cursor"]; ok {
		return nil, badParams(m, "there is no page "+quote(string(raw)))
	}
	return cached(map[string]any{"tools": []any{c.srv.bashTool(), outputTool(), stopTool()}}), nil
}

// instructions tell the model where it is.
func (s *Server) instructions() string {
	return "Commands run in a sandbox. " + s.surroundings() +
		" What is refused is in the answer, with the rule and what the user can do about it; tell the user instead of trying ways around it."
}

// surroundings are the facts of the sandbox, in words.
func (s *Server) surroundings() string {
	f := s.facts
	var b strings.Builder
	if f.workspace != "" {
		fmt.Fprintf(&b, "Only %s and a private temporary directory can be written. ", inline(f.workspace))
	}
	switch f.network {
	case "off":
		b.WriteString("There is no network, except the sandbox's own loopback.")
	case "allow":
		b.WriteString("Only the hosts that the user's policy lists can be reached.")
	default:
		b.WriteString("The network can be reached.")
	}
	if f.backend == "none" || f.mode == "permissive" {
		return "THERE IS NO ISOLATION: the user's policy asks for none."
	}
	return b.String()
}

func (s *Server) bashTool() map[string]any {
	where := ""
	if s.facts.cwd != "" {
		where = " It starts in " + inline(s.facts.cwd) + " each time: a cd does not last."
	}
	return map[string]any{
		"name": "Bash", "title": "Run a command in the sandbox",
		"description": "Runs a " + shellName(s.sh) + " command in a sandbox and gives its output, exit code and what was refused." + where + " " + s.surroundings() +
			fmt.Sprintf(" The command has no input. Of each stream the first and last %d bytes are kept. For servers and long work set run_in_background, then use BashOutput and BashStop.", maxOutput/2),
		"inputSchema": schema(map[string]any{
			"command":           text(fmt.Sprintf("The command, at most %d bytes.", maxCommand)),
			"timeout":           integer(fmt.Sprintf("Milliseconds after which it is ended; %d if not given, at most %d.", s.defaultTimeout().Milliseconds(), s.maxTimeout().Milliseconds())),
			"timeout_ms":        integer("Another name for timeout."),
			"description":       text("What the command does, in a few words, for people."),
			"run_in_background": map[string]any{"type": "boolean", "description": "Start it and answer at once with a job. Without timeout it runs until it ends, is stopped, or the client goes."},
		}, "command"),
		"outputSchema": outputSchema(),
		"annotations":  map[string]any{"title": "Run a command in the sandbox", "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": s.facts.network != "off"},
	}
}

func outputTool() map[string]any {
	return map[string]any{
		"name": "BashOutput", "title": "Read a background job",
		"description": "Gives what a background job wrote since it was last read, and how it ended if it has. Without job it lists the jobs.",
		"inputSchema": schema(map[string]any{
			"job":  text("The job, as Bash named it."),
			"wait": integer(fmt.Sprintf("Milliseconds to wait for output or for the end if there is none yet; at most %d.", maxWait.Milliseconds())),
		}),
		"outputSchema": outputSchema(),
		"annotations":  map[string]any{"title": "Read a background job", "readOnlyHint": true, "openWorldHint": false},
	}
}

func stopTool() map[string]any {
	return map[string]any{
		"name": "BashStop", "title": "Stop a background job",
		"description":  "Ends a background job with everything it started, and gives the rest of its output.",
		"inputSchema":  schema(map[string]any{"job": text("The job, as Bash named it.")}, "job"),
		"outputSchema": outputSchema(),
		"annotations":  map[string]any{"title": "Stop a background job", "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false},
	}
}

func schema(properties map[string]any, required ...string) map[string]any {
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func text(about string) map[string]any {
	return map[string]any{"type": "string", "description": about}
}

func integer(about string) map[string]any {
	return map[string]any{"type": "integer", "minimum": 0, "description": about}
}

// Bounds of time. The host's limits.timeout bounds every command below these.
const (
	usualTimeout = 2 * time.Minute // when none is asked for
	mostTimeout  = 10 * time.Minute
	maxWait      = time.Minute
)

// defaultTimeout is that of a call that waits.
func (s *Server) defaultTimeout() time.Duration { return s.allowed(usualTimeout) }

// maxTimeout is the most that a call may ask for.
func (s *Server) maxTimeout() time.Duration {
	if s.facts.timeout > 0 {
		return s.facts.timeout // the host wants it so, be it more or less
	}
	return mostTimeout
}

func (s *Server) allowed(d time.Duration) time.Duration {
	if s.facts.timeout > 0 {
		return min(d, s.facts.timeout)
	}
	return d
}
