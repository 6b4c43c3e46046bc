// Package sbpl is the macOS sandbox profile language as data: a builder that
// cannot be injected into, a parser, and an evaluator that answers "is operation
// X on path P allowed" without a Mac.
//
// Apple has published no specification. What is modelled here was taken from:
//
//   - sandbox-exec(1), sandbox_init(3), and the comments in the profiles that
//     macOS ships in /System/Library/Sandbox/Profiles and /usr/share/sandbox
//   - D. Blazakis, The Apple Sandbox, Black Hat DC 2011 (operations with a table
//     of filters each, falling back to a more general operation)
//   - fG!, Apple's Sandbox Guide v1.0, 2011 (filters, modifiers, order of rules)
//   - R. Deaconescu et al., SandBlaster, 2016 (operations and their hierarchy)
//   - the profiles of Chromium, Firefox, WebKit, Bazel, Nix and Codex, and what
//     their authors wrote about tries on real machines
//
// Two readings of the order of rules are in circulation, see Order. A profile is
// only good when both readings give the same answers; a test of ours holds the
// profiles that we write to that.
//
// It is a model: it shows that a profile says what was meant, not what a kernel
// does with it. It is pure and runs on every system.
package sbpl
