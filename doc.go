// Package qsandbox runs what an AI coding agent wants to run, so that it can do
// the work and nothing else: it writes only to the workspace, cannot read
// credentials, reaches only the network it was given, ends when told, and leaves
// nothing behind.
//
// A Policy is what the user wants. A Spec is that policy bound to this host,
// workspace and command. A Plan is the spec in one backend's words. A Process is
// the plan running, a Session owns it, and a Report says what was enforced and
// what happened.
//
//	rep, err := qsandbox.Run(ctx, qsandbox.Request{
//		Command: []string{"go", "test", "./..."},
//		Stdout:  os.Stdout, Stderr: os.Stderr,
//	})
//
// The module path is provisional.
package qsandbox
