// Package jsonrpc reads lines of JSON-RPC 2.0 as spans of bytes: what a line is,
// where its parts lie, how to change one of them and leave the rest as it was.
//
// SECURITY: two programs read each line, we and the one that it is passed on to.
// A line that they could read differently (a key twice, in other letters, a second
// value behind the first, a carriage return in the middle) is refused, not guessed.
package jsonrpc
