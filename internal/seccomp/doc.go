// Package seccomp describes which system calls a sandboxed command may make, as
// a table, and compiles the table to the classic BPF that Linux takes.
//
// It is data and pure functions only: nothing here makes a system call, so the
// package builds and is tested on every OS. Whoever installs the filter hands
// [Program.Bytes] to seccomp(2), or to bwrap --seccomp.
//
// # The model
//
// An allowlist over a known universe. Every call of the kernel's table that this
// package knows (all of amd64 and arm64 up to [Newest]) is in the table, and:
//
//   - an allowed call passes, or passes for some arguments only;
//   - a known call that is not allowed is refused, most often with EPERM;
//   - a number that the table does not know gives ENOSYS, which is what an older
//     kernel would say, so programs fall back instead of failing;
//   - another architecture, and x32 on amd64, kills the process.
//
// An allowlist and not a list of refusals, because a call that a later kernel
// adds must not be open until somebody looks at it; ENOSYS and not EPERM for
// what is unknown, because programs probe for new calls and take EPERM for final.
//
// Where a rule differs from Docker's default profile (github.com/moby/profiles
// v0.3.0, with the capabilities that a container has by default), the row says why.
//
// # Arguments
//
// SECURITY: only the low 32 bits of an argument are compared. Each argument that
// a rule looks at is an int or an unsigned int to the kernel, which drops the
// high half; a filter that compares 64 bits is passed by TIOCSTI | 1<<32.
//
// # Cost
//
// From Linux 5.11 the kernel works out, when a filter is installed, which calls
// it allows without a look at the arguments, and lets those through unfiltered
// (the SECCOMP_CACHE bitmap in kernel/seccomp.c). So only loads of the number
// and the architecture come before a plain "allow" here. The other calls walk a
// search tree weighted so that hot ones sit near the root.
//
// Sources: Documentation/userspace-api/seccomp_filter.rst, seccomp(2),
// include/uapi/linux/{seccomp,filter,audit,bpf_common}.h.
package seccomp
