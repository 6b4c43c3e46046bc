// Package helpercmd is the command line of qiming-sandbox-helper as data: what a
// caller writes and the helper reads, its policy in JSON, its answers. Pure: the
// windows-sandbox backend and the helper share it, so that they cannot drift apart.
package helpercmd
