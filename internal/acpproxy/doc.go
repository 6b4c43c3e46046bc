// Package acpproxy stands between a client of the Agent Client Protocol and an
// agent. The agent runs in a sandbox; its terminal calls are answered here, each
// terminal in a sandbox of its own, under another policy; all else passes byte for
// byte, less what would let the agent act outside through the client.
//
// The client is the user's and is trusted: what it sends passes, whatever it is. The
// agent is not. What it sends is passed on only when every reader must understand it
// in the way that we do (package jsonrpc).
package acpproxy
