// The interpreter, to be included in the body of a function. It uses no stack, no global and nothing of the Go runtime,
// so that it can run in the init, in its forked child, and in a child that shares memory with the launcher.
//
//	in   BX  address of the blob (already relocated)
//	     R12 first instruction, R13 number of instructions
//	out  jumps to programDone, or to programFailed with AX = errno and R12 = the instruction
//	uses AX CX DX SI DI R8-R11 R14 R15
//
// The function defines the two labels.

// ARG loads argument i into reg. Which of the three readings holds is chosen by conditional moves; the slot number is
// masked because the load from the slot happens in any case.
#ifndef ARG
#define ARG(i, reg) \
	MOVQ (insArgs+8*i)(R12), reg; \
	MOVQ reg, CX; \
	ANDL $63, CX; \
	MOVQ blobSlots(BX)(CX*8), CX; \
	LEAQ (BX)(reg*1), AX; \
	BTL $i, R14; \
	CMOVQCS AX, reg; \
	BTL $(8+i), R14; \
	CMOVQCS CX, reg
#endif

interpNext:
	TESTQ R13, R13
	JEQ programDone
	MOVL insFlags(R12), R14
	ARG(0, DI)
	ARG(1, SI)
	ARG(2, DX)
	ARG(3, R10)
	ARG(4, R8)
	ARG(5, R9)
	XORL R15, R15 // instructions to skip
	MOVL insNr(R12), AX
	CMPL AX, $0xF0000000
	JCC interpPseudo
	SYSCALL

interpResult:
	CMPQ AX, $-4095
	JCC interpError // unsigned: -4095..-1
interpStore:
	MOVLQSX insDst(R12), CX
	TESTQ CX, CX
	JLT interpAdvance
	MOVQ AX, blobSlots(BX)(CX*8)
interpAdvance:
	INCQ R15
	SUBQ R15, R13
	IMUL3Q $insSize, R15, R15
	ADDQ R15, R12
	JMP interpNext

interpError:
	NEGQ AX
	BTL $16, R14
	JCS interpTolerated
	CMPL AX, insOk(R12)
	JNE programFailed
interpTolerated:
	MOVL insSkip(R12), R15
	MOVQ $-1, AX
	JMP interpStore

interpPseudo:
	JEQ interpCompare
	CMPL AX, $0xF0000001
	JEQ interpStore32
	MOVL insSkip(R12), R15 // jump
	XORL AX, AX
	JMP interpStore

interpStore32:
	MOVL SI, (DI)
	XORL AX, AX
	JMP interpStore

interpCompare:
	TESTQ DX, DX
	JEQ interpSame
	MOVQ (DI), AX
	CMPQ AX, (SI)
	JNE interpDiffer
	ADDQ $8, DI
	ADDQ $8, SI
	SUBQ $8, DX
	JMP interpCompare
interpSame:
	XORL AX, AX
	JMP interpStore
interpDiffer:
	MOVQ $-116, AX // ESTALE
	JMP interpResult
