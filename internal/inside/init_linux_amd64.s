#include "textflag.h"
#include "layout_amd64.h"

// The init: position-independent code that code_amd64.go puts behind an ELF header. It runs without the Go runtime, as
// PID 1 of the sandbox (or as a plain process: "direct"), on the stack that the kernel gave it. BX is the blob throughout.
// System call numbers are those of amd64, see syscall_64.tbl in the kernel.

// Scratch area: what outlives a call.
#define sProgram (blobScratch+0)  // program being run
#define sPid     (blobScratch+8)  // the command
#define sGone    (blobScratch+16) // 1 once the command was reaped (direct only)
#define sTimeout (blobScratch+24) // of the next poll
#define sCount   (blobScratch+32) // children still to be reaped in this turn
#define sPoll    (blobScratch+40) // two struct pollfd
#define sByte    (blobScratch+56) // control byte
#define sMask    (blobScratch+64) // signal set
#define sAction  (blobScratch+72) // struct sigaction, all zero: SIG_DFL
#define sInfo    (blobScratch+128) // struct signalfd_siginfo, 128 bytes
#define sMessage (blobScratch+256) // Exited: 16 bytes and struct rusage

#define signalfdFD (sPoll+8)

#define SYS(n) \
	MOVL $n, AX; \
	SYSCALL

// ERR jumps to label when AX is -errno.
#define ERR(label) \
	CMPQ AX, $-4095; \
	JCC label

#define SEND(size) \
	MOVL $4, DI; \
	MOVL $size, DX; \
	MOVL $0x4000, R10; \
	XORL R8, R8; \
	XORL R9, R9; \
	SYS(44) // sendto(FDStatus, SI, size, MSG_NOSIGNAL)

TEXT ·initCode(SB), NOSPLIT|NOFRAME, $0-0
	// SECURITY: not dumpable, so that /proc/1/{exe,mem,environ,fd} lead nowhere, before anything else can run inside.
	MOVL $0xFFFFFF01, R15 // StepStart
	MOVL $4, DI           // PR_SET_DUMPABLE; the other arguments are not looked at
	XORL SI, SI
	SYS(157)              // prctl
	ERR(initError)

	// SECURITY: the command's execve must close both, or it could read control bytes and send messages of its own.
	MOVL $3, DI
	MOVL $2, SI           // F_SETFD
	MOVL $1, DX           // FD_CLOEXEC
	SYS(72)               // fcntl
	ERR(initError)
	MOVL $4, DI
	SYS(72)
	ERR(initError)

	// Map the blob: first a page, to learn the size.
	MOVL $0xFFFFFF00, R15 // StepBlob
	MOVL $4096, SI
	MOVL $1, DX           // PROT_READ
	XORL DI, DI
	MOVL $2, R10          // MAP_PRIVATE
	MOVL $5, R8           // FDBlob
	XORL R9, R9
	SYS(9)                // mmap
	ERR(initError)
	MOVQ AX, DI
	MOVQ $0x3130424F4C425351, DX // Magic: "QSBLOB01"
	MOVQ hdrMagic(DI), CX
	MOVQ hdrSize(DI), R12
	MOVQ $-8, AX          // ENOEXEC
	CMPQ CX, DX
	JNE initError
	SYS(11)               // munmap
	XORL DI, DI
	MOVQ R12, SI
	MOVL $3, DX           // PROT_READ|PROT_WRITE
	SYS(9)
	ERR(initError)
	MOVQ AX, BX
	MOVL $5, DI
	SYS(3)                // close

	MOVQ hdrReloc(BX), DI
	ADDQ BX, DI
	MOVQ (hdrReloc+8)(BX), CX
relocate:
	DECQ CX
	JLT relocated
	MOVQ (DI)(CX*8), AX
	ADDQ BX, (BX)(AX*1)
	JMP relocate
relocated:

	// All signals stay blocked: the init takes SIGCHLD from a signalfd and nothing else.
	MOVL $0xFFFFFF01, R15
	MOVQ $-1, sMask(BX)
	MOVL $2, DI           // SIG_SETMASK
	LEAQ sMask(BX), SI
	XORL DX, DX
	MOVL $8, R10
	SYS(14)               // rt_sigprocmask
	ERR(initError)
	BTQ $0, hdrFlags(BX)
	JCS isolated
	MOVL $36, DI          // PR_SET_CHILD_SUBREAPER
	MOVL $1, SI
	SYS(157)
	ERR(initError)
isolated:

	MOVQ $1, sProgram(BX)
	MOVQ hdrInit(BX), R12
	MOVQ (hdrInit+8)(BX), R13
	ADDQ BX, R12
#include "interp_amd64.h"

programFailed:
	NEGQ AX
	MOVL insStep(R12), R15
	CMPQ sProgram(BX), $1
	JEQ initError
childError: // AX = -errno, R15 = step
	MOVL $2, R14          // Command
	MOVL $127, R13
	JMP sendFailed
initError:
	MOVL $1, R14          // Init
	MOVL $125, R13
sendFailed:
	// In the red zone, as there may be no blob yet.
	NEGQ AX
	MOVL $2, -16(SP)      // KindFailed
	MOVL R14, -12(SP)
	MOVL R15, -8(SP)
	MOVL AX, -4(SP)
	LEAQ -16(SP), SI
	SEND(16)
	MOVL R13, DI
exit:
	SYS(231)              // exit_group
	JMP exit

programDone:
	CMPQ sProgram(BX), $1
	JEQ ready
	MOVL $0xFFFFFF04, R15 // StepReturn
	MOVQ $-8, AX          // ENOEXEC
	JMP childError

ready:
	// SECURITY: again, as a change of user in the program makes it what fs.suid_dumpable says.
	MOVL $0xFFFFFF01, R15
	MOVL $4, DI
	XORL SI, SI
	SYS(157)
	ERR(initError)
	MOVQ $(1<<16), AX     // SIGCHLD
	MOVQ AX, sMask(BX)
	MOVQ $-1, DI
	LEAQ sMask(BX), SI
	MOVL $8, DX
	MOVL $0x80800, R10    // SFD_CLOEXEC|SFD_NONBLOCK
	SYS(289)              // signalfd4
	ERR(initError)
	MOVL AX, signalfdFD(BX)
	MOVL $1, (signalfdFD+4)(BX) // POLLIN
	MOVL $3, sPoll(BX)
	MOVL $1, (sPoll+4)(BX)
	MOVQ $-1, sTimeout(BX)

	MOVQ $0x100000001, AX // KindHello, messageVersion
	MOVQ AX, sMessage(BX)
	LEAQ sMessage(BX), SI
	SEND(16)

	// SECURITY: nothing starts before the launcher says so, so nothing can outlive a launcher that died early.
	MOVL $3, DI
	LEAQ sByte(BX), SI
	MOVL $1, DX
	XORL AX, AX           // read
	SYSCALL
	MOVL $125, DI
	CMPQ AX, $1
	JNE exit
	CMPB sByte(BX), $0xFF // ControlGo
	JNE exit

	MOVL $0xFFFFFF02, R15 // StepFork
	MOVL $17, DI          // SIGCHLD
	XORL SI, SI
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	SYS(56)               // clone
	ERR(initError)
	TESTQ AX, AX
	JEQ child
	MOVQ AX, sPid(BX)

	// Hold no end of the command's pipes or terminal, or their readers would never see the end. What the program Init
	// opened goes too, from 6 on; the signalfd becomes 5. (Before 5.9 there is no close_range, and it stays.)
	MOVL $3, R12
closeStdio:
	DECL R12
	MOVL R12, DI
	SYS(3)
	TESTL R12, R12
	JNE closeStdio
	MOVL signalfdFD(BX), DI
	MOVL $5, SI
	MOVL $0x80000, DX     // O_CLOEXEC
	SYS(292)              // dup3: EINVAL if it is 5 already
	MOVL SI, signalfdFD(BX)
	MOVL $6, DI
	MOVL $-1, SI
	XORL DX, DX
	SYS(436)              // close_range

	// SECURITY: forget programs and data (environment, paths): only the first page, with the scratch area, stays.
	LEAQ blobCode(BX), DI
	MOVL $((4096-blobCode)/8), CX
	XORL AX, AX
	CLD
	REP; STOSQ
	MOVQ hdrSize(BX), SI
	SUBQ $4096, SI
	JLS loop
	SYS(11)               // munmap; DI is at the second page

loop:
	LEAQ sPoll(BX), DI
	MOVL $2, SI
	MOVQ sTimeout(BX), DX
	SYS(7)                // poll
	CMPQ AX, $-4          // EINTR
	JEQ loop
	ERR(gone)
	// SECURITY: control first, and a limit on reaping, or a storm of orphans inside could keep a kill waiting.
	CMPW (sPoll+6)(BX), $0
	JNE control
reap:
	MOVL signalfdFD(BX), DI
	LEAQ sInfo(BX), SI
	MOVL $128, DX
	XORL AX, AX
	SYSCALL
	MOVQ $64, sCount(BX)
	MOVQ $0, sTimeout(BX)
reapNext:
	DECQ sCount(BX)
	JLT loop              // there may be more: look at control, do not wait
	MOVQ $-1, DI
	LEAQ (sMessage+4)(BX), SI
	MOVL $0x40000001, DX  // WNOHANG|__WALL
	LEAQ (sMessage+16)(BX), R10
	SYS(61)               // wait4
	CMPQ AX, $0
	JLE reaped
	CMPQ AX, sPid(BX)
	JNE reapNext
	CMPQ sGone(BX), $0
	JNE reapNext

	MOVL $3, sMessage(BX) // KindExited
	MOVQ $0, (sMessage+8)(BX)
	LEAQ sMessage(BX), SI
	SEND(160)
	MOVQ $1, sGone(BX)
	XORL DI, DI
	BTQ $0, hdrFlags(BX)
	JCS exit              // the kernel ends all others in the namespace before it reports our end
	JMP reapNext
reaped:
	MOVQ $-1, sTimeout(BX)
	JMP loop

control:
	MOVL $3, DI
	LEAQ sByte(BX), SI
	MOVL $1, DX
	XORL AX, AX
	SYSCALL
	CMPQ AX, $-11         // EAGAIN
	JEQ reap
	CMPQ AX, $-4          // EINTR
	JEQ reap
	CMPQ AX, $1
	JNE gone
	MOVBLZX sByte(BX), SI
	CMPL SI, $0xFE        // ControlQuit
	JEQ quit
	CMPL SI, $0x80        // ControlAll
	JCS group
	ANDL $0x7F, SI
	BTQ $0, hdrFlags(BX)
	JCC group
	CMPL SI, $64
	JHI reap
	MOVQ $-1, DI          // all but ourselves
	JMP signal
group:
	CMPL SI, $64
	JHI reap
	MOVQ sPid(BX), DI
	NEGQ DI
signal:
	TESTL SI, SI
	JEQ reap
	SYS(62)               // kill
	CMPQ AX, $-3          // ESRCH: the child has no group of its own yet
	JNE reap
	CMPQ sGone(BX), $0    // its number may belong to another process by now
	JNE reap
	MOVQ sPid(BX), DI
	SYS(62)
	JMP reap

quit:
	XORL DI, DI
	CMPQ sGone(BX), $0
	JNE exit
gone:
	// SECURITY: the launcher is gone: so is everything else.
	MOVQ $-1, DI
	BTQ $0, hdrFlags(BX)
	JCS killAll
	MOVQ sPid(BX), DI
	NEGQ DI
killAll:
	MOVL $9, SI
	SYS(62)
	CMPQ AX, $-3
	JNE killed
	CMPQ sGone(BX), $0
	JNE killed
	MOVQ sPid(BX), DI
	SYS(62)
killed:
	MOVL $125, DI
	JMP exit

child:
	MOVL $3, DI
	SYS(3)
	// Descriptors that an earlier step left open: the command gets 0, 1, 2 and what its own program makes inheritable.
	// Kernels before 5.11 cannot; there the descriptors' own flags must do, as they do for 3 and 4.
	MOVL $3, DI
	MOVL $-1, SI
	MOVL $4, DX           // CLOSE_RANGE_CLOEXEC
	SYS(436)              // close_range

	// Default action for every signal (ignored ones are inherited through execve), then an empty mask.
	MOVL $64, R12
	LEAQ sAction(BX), SI
	XORL DX, DX
	MOVL $8, R10
defaults:
	MOVL R12, DI
	SYS(13)               // rt_sigaction; KILL and STOP are refused
	DECL R12
	JNE defaults
	MOVL $2, DI           // SIG_SETMASK
	SYS(14)               // rt_sigprocmask with the same zeros

	MOVQ $2, sProgram(BX)
	MOVQ hdrCommand(BX), R12
	MOVQ (hdrCommand+8)(BX), R13
	ADDQ BX, R12
	JMP interpNext

	// End marker, looked for by initCode in code_amd64.go.
	QUAD $0x9E3779B97F4A7C15
	QUAD $0xD1B54A32D192ED03

// func initAddress() uintptr
TEXT ·initAddress(SB), NOSPLIT, $0-8
	LEAQ ·initCode(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func interpretAsm(base uintptr, program int) (step uint32, errno uint32)
TEXT ·interpretAsm(SB), NOSPLIT, $0-24
	MOVQ base+0(FP), BX
	MOVQ program+8(FP), AX
	SHLQ $4, AX
	MOVQ hdrPrograms(BX)(AX*1), R12
	MOVQ (hdrPrograms+8)(BX)(AX*1), R13
	ADDQ BX, R12
#include "interp_amd64.h"

programDone:
	MOVL $0, step+16(FP)
	MOVL $0, errno+20(FP)
	RET
programFailed:
	MOVL insStep(R12), CX
	MOVL CX, step+16(FP)
	MOVL AX, errno+20(FP)
	RET
