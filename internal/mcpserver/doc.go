// Package mcpserver answers the Model Context Protocol over a pair of streams: an
// agent's client calls the tool Bash, and every command runs in a sandbox of its
// own, through package qsandbox alone (MCP-01).
//
//	lines      frame.go     bytes → lines, bounded
//	messages   message.go   lines → requests; refuses what is not one, by its id
//	protocol   server.go    requests → answers; both eras of the protocol, lifecycle.go
//	tools      tools.go     Bash, BashOutput, BashStop
//	a call     call.go      arguments → qsandbox.Request → result.go
//
// The peer is not trusted to keep to the protocol: no line, no number of lines and
// no refusal to read ends the server or makes it hold more than a bounded amount of
// memory; what it asks for runs in the host's workspace under the host's policy,
// whatever the request says. docs/adr/0017-mcp-core.md says why this is not the official SDK.
//
// Source of the protocol: https://modelcontextprotocol.io/specification
package mcpserver
