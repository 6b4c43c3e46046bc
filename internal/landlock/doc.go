// Package landlock describes a Landlock domain as data: which rights a ruleset
// handles, what each path is granted, what a kernel of a given ABI lacks, and the
// bytes of the kernel's structs.
//
// Nothing here makes a system call: the package builds and is tested on every OS.
// Whoever enforces a [Ruleset] does, in this order: landlock_create_ruleset with
// [Ruleset.Attr], landlock_add_rule with [PathBeneath] and [NetPort] for each rule
// (parent descriptors opened with O_PATH), no_new_privs, landlock_restrict_self
// with [Ruleset.Flags].
//
// # Traps that the package knows
//
//   - One ruleset for everything. Rights in two rulesets make two layers, and a
//     move between directories needs REFER in each: with file rules in one and
//     network rules in the other, rename gives EXDEV. [For] makes one.
//   - A right for directories on a file's rule is EINVAL: [For] masks it.
//   - A rule without any right is ENOMSG, and so is a ruleset that handles
//     nothing: [For] drops such rules, [Ruleset.Empty] says there is nothing to install.
//   - Rules only add up. A grant on a directory reaches everything below, so
//     "deny below an allowed directory" cannot be said: mounts do that.
//   - Landlock has no rights for metadata: chmod, chown, utimes and setxattr of a
//     readable file work. A read-only mount is needed as well.
//   - A ruleset with file rights forbids mount(2): it comes after the mounts. One
//     with scopes only ([ForScopes]) does not, and may come before bwrap.
//   - Opening /dev/stdout fails where it leads to a file outside the granted
//     paths; the open descriptor itself works.
//   - Some vendor kernels claim an ABI and lack a part of it (RHEL 9 says 6 without
//     the signal scope, per xz's my_landlock.h). If landlock_create_ruleset gives
//     EINVAL, call [For] again with Options.Lacks.
//
// Sources: Documentation/userspace-api/landlock.rst, landlock(7),
// include/uapi/linux/landlock.h, security/landlock/{fs,ruleset,syscalls}.c.
package landlock
