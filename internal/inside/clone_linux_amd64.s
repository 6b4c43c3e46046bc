#include "textflag.h"
#include "layout_amd64.h"

#define cloneStatus (blobScratch+512) // the status descriptor, put there by Clone
#define cloneMessage (blobScratch+528)

// func rawClone(flags, stack, base uintptr) (pid int)
TEXT ·rawClone(SB), NOSPLIT, $0-32
	MOVQ flags+0(FP), DI
	MOVQ stack+8(FP), SI
	MOVQ base+16(FP), BX
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	MOVL $56, AX // clone
	SYSCALL
	TESTQ AX, AX
	JNE parent
	JMP rawChild<>(SB)
parent:
	MOVQ AX, pid+24(FP)
	RET

// func rawClone3(args *cloneArgs, size, base uintptr) (pid int)
TEXT ·rawClone3(SB), NOSPLIT, $0-32
	MOVQ args+0(FP), DI
	MOVQ size+8(FP), SI
	MOVQ base+16(FP), BX
	MOVL $435, AX // clone3
	SYSCALL
	TESTQ AX, AX
	JNE parent
	JMP rawChild<>(SB)
parent:
	MOVQ AX, pid+24(FP)
	RET

// The child shares the launcher's memory until it executes another program. It touches the blob's own pages and nothing
// else: no stack of Go, no heap, no thread-local storage. It ends in an execve or in exit_group.
TEXT rawChild<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ hdrPrograms(BX), R12
	MOVQ (hdrPrograms+8)(BX), R13
	ADDQ BX, R12
#include "interp_amd64.h"

programDone:
	MOVL $0xFFFFFF03, R15 // StepExec: the program should have ended in execveat
	MOVL $8, AX           // ENOEXEC
	JMP report
programFailed:
	MOVL insStep(R12), R15
report:
	MOVL $2, cloneMessage(BX) // KindFailed
	MOVL $0, (cloneMessage+4)(BX)
	MOVL R15, (cloneMessage+8)(BX)
	MOVL AX, (cloneMessage+12)(BX)
	MOVQ cloneStatus(BX), DI
	LEAQ cloneMessage(BX), SI
	MOVL $16, DX
	MOVL $0x4000, R10 // MSG_NOSIGNAL
	XORL R8, R8
	XORL R9, R9
	MOVL $44, AX // sendto
	SYSCALL
exit:
	MOVL $125, DI
	MOVL $231, AX // exit_group
	SYSCALL
	JMP exit
