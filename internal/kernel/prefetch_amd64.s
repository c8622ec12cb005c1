//go:build amd64 && !noasm

#include "textflag.h"

// func prefetchLines(src *byte, n int)
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVQ src+0(FP), AX
	MOVQ n+8(FP), CX

line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	SUBQ $64, CX
	JG   line
	RET
