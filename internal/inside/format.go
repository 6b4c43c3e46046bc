// Package inside is everything of ours that runs inside the sandbox before and beside the command: the program that
// sets the sandbox up, the init (PID 1), and the last steps of the child that becomes the command.
//
// All of it is data. The launcher writes down, outside and in advance, the system calls that are to be made (Builder)
// and gets an Image; inside, an interpreter of a few instructions carries them out. There are two interpreters, one in
// Go (portable) and one in amd64 assembly, which the init of a few hundred bytes is made of, and they read the same
// bytes. The data part of the package builds and is tested on every system; only the interpreters are Linux.
//
// A blob, all little-endian:
//
//	  0  header       magic, size, flags, relocations {off, count}, three programs {off, count}
//	 96  slots        64 × int64, results of calls; -1 until set
//	608  scratch      1024 bytes that belong to the init
//	1632 instructions 80 bytes each
//	...  data         strings, buffers, pointer arrays
//	...  relocations  u64 each: offset of a u64 to which the load address must be added
package inside

// Magic is the first word of a blob: "QSBLOB" and a two-digit version. A layout change changes the version, so an init
// never reads a blob of another build of the library.
const Magic uint64 = '1'<<56 | '0'<<48 | 'B'<<40 | 'O'<<32 | 'L'<<24 | 'B'<<16 | 'S'<<8 | 'Q'

// Layout of the blob. interp_amd64.h and init_amd64.s repeat these numbers; TestLayoutMatchesAssembly compares.
const (
	offMagic    = 0
	offSize     = 8
	offFlags    = 16
	offReloc    = 24 // offset, then count
	offPrograms = 40 // three times offset, then count
	headerSize  = 96

	slotCount   = 64
	offSlots    = headerSize
	offScratch  = offSlots + 8*slotCount
	scratchSize = 1024
	offCode     = offScratch + scratchSize

	instructionSize = 80
	maxBlobSize     = 1 << 30
)

// flagIsolated says that the init is PID 1 of a pid namespace: killing everybody is kill(-1), and its end is the end of
// all. Without it the init is an ordinary process and a subreaper.
const flagIsolated uint64 = 1

// An instruction: nr, flags, dst, step, okErrno, skip (u32 each, dst signed), 8 bytes unused, six u64 arguments. A result
// in [-4095, -1] is an error; one that is ignored or equals okErrno leaves out skip instructions and sets dst to -1 (not
// to the error: -100 would be AT_FDCWD to a later call), any other ends the program.
//
// Flags of an instruction. Bits 0-5: argument i is an offset in the blob; bits 8-13: argument i is a slot.
const (
	insSlotShift  = 8
	insIgnore     = 1 << 16
	insAllThreads = 1 << 17
)

// Pseudo instructions: numbers that no system call has.
const (
	pseudoFirst   = 0xF0000000
	pseudoCompare = pseudoFirst     // a, b, n: n bytes at a and b are the same, else ESTALE
	pseudoStore32 = pseudoFirst + 1 // p, v: the low 32 bits of v go to p
	pseudoJump    = pseudoFirst + 2 // the following instructions, as many as its skip says, are left out
)

// Program names one of the three lists of calls in a blob.
type Program int

// The programs in the order in which they run.
const (
	Setup   Program = iota // namespaces and mounts: by the stage, or by the launcher's raw child
	Init                   // by PID 1, before it says Hello
	Command                // by PID 1's child; ends in execve
	programCount
)

// String returns the name used in messages.
func (p Program) String() string {
	switch p {
	case Setup:
		return "setup"
	case Init:
		return "init"
	case Command:
		return "command"
	}
	return "unknown program"
}

// Descriptors that stage and init find open. 0, 1 and 2 are those of the command (/dev/null where it gets a terminal).
const (
	FDControl = 3 // read end of a pipe or a socket: control bytes from the launcher; its end means that the launcher is gone
	FDStatus  = 4 // SOCK_SEQPACKET to the launcher: one Message a packet
	FDBlob    = 5 // sealed memfd: the blob
	FDInit    = 6 // stage only: the init's executable
)

// Control bytes. 1 to 64 sends that signal to the process group of the command.
const (
	ControlAll  = 0x80 // | signal: to every process inside (direct: to the group)
	ControlQuit = 0xFE // direct only, after Exited: leave, and leave alone what still runs
	ControlGo   = 0xFF // start the command; it must be the first byte
)

// Exit codes of our own processes.
const (
	ExitFailed        = 125 // stage or init: see the Failed message
	ExitCommandFailed = 127 // the child: the program Command failed, see the Failed message
)

// Steps that are no instruction of a program: what the stage and the init do of their own accord.
const (
	StepBlob   uint32 = 0xFFFFFF00 + iota // map and check the blob
	StepStart                             // make the init ready (descriptors, signals)
	StepFork                              // fork the child
	StepExec                              // stage: exec the init; Go init: start the child's program
	StepReturn                            // the program Command ended without an execve
)
