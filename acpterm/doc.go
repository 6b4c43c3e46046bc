// Package acpterm answers the terminal methods of the Agent Client Protocol
// (terminal/create, output, wait_for_exit, kill, release), each terminal a command
// in a sandbox of package qsandbox. It is for programs that host agents: editors,
// and whatever else speaks the protocol as a client.
//
//	terms := acpterm.New(acpterm.Options{Layers: layers})
//	defer terms.Close()
//	result, err := terms.Call(ctx, method, params) // err is an *acpterm.Error
//
// Call takes what came over the wire. Create, Output, Wait, Kill and Release are
// the same for programs that have decoded it with a library of the protocol.
//
// What an agent sends grants no right: the workspace, what may be written, the
// network and the limits come from Options alone.
//
// The protocol: https://agentclientprotocol.com/protocol/v1/terminals, schema v1.
package acpterm
