// Package livetest tries `qsandbox mcp` as it is built, with real commands in real
// sandboxes, and with clients that others wrote. It has tests only.
package livetest
