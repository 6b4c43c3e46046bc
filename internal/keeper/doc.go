// Package keeper stands between the launcher and the command on systems without a
// pid namespace (macOS). It is a second start of the same program that holds a
// pipe from the launcher: when the launcher is gone, however it went, the keeper
// ends the command with all that it started (PROC-02).
//
// The keeper runs outside of the sandbox as the same user. It reads one job, starts
// it, passes signals on, and tells how it ended. Descriptors: 0 to 2 are the
// command's, 3 control, 4 status, 5 the job, 6 the terminal.
//
// It is advisory: a process that leaves group, session and parent in less time
// than a look at the process list takes is not found again.
//
// All of it runs on Linux as well, where its tests are; what is macOS's own (the
// process list, the terminal, kqueue) is in files of that system.
package keeper
