package main

// computingBugs are those of derivatives and kernels.
func computingBugs() []bug {
	const ad, kernel = "ad", "internal/kernel"
	return []bug{
		one("a product of the rows before", "ad.TestSameBitsAfterAnyHistory", ad+"/machine.go",
			"\tm.invalidate(s.bit)\n\ts.valid, s.held = false, [2]int{}\n", "\ts.valid, s.held = false, [2]int{}\n"),
		one("a warm product of the point before", "ad.TestSameBitsAfterAnyHistory", ad+"/machine.go",
			"\t\t\tm.invalidate(s.bit)\n\t\t\ts.seen = s.shared.version\n", "\t\t\ts.seen = s.shared.version\n"),
		one("a kept value is of the direction before", "ad.TestSameBitsAfterAnyHistory", ad+"/machine.go",
			"s.deps&bit != 0 && s.bit == 0 {", "s.deps&bit != 0 && s.bit == 0 && (s.own == nil || bit != m.direction) {"),
		one("a wrong transposition in plain Go", "internal/kernel.TestGemmExact", kernel+"/gemm.go",
			"gemmOuterGo(m, n, k, c, ldc, a, 1, lda, b, ldb, acc)", "gemmOuterGo(m, n, k, c, ldc, a, lda, 1, b, ldb, acc)"),
		one("a square matrix that is not transposed", "internal/kernel.TestGemmExact", kernel+"/gemm.go",
			"\t\tgemmChain[T](m, n, k, pointer(c), ldc*size[T](), rowMajor(a, lda).transposed(), rowMajor(b, ldb), acc)",
			"\t\tleft := rowMajor(a, lda)\n\t\tif m != k {\n\t\t\tleft = left.transposed()\n\t\t}\n\t\tgemmChain[T](m, n, k, pointer(c), ldc*size[T](), left, rowMajor(b, ldb), acc)"),
		one("processors that share a sum", "internal/kernel.TestSharedProducts", kernel+"/gemm_chain.go",
			"\t\tteam.Share(m, func(from, to int) {\n\t\t\tchainPart[T](to-from, n, k, unsafe.Add(c, from*ldc), ldc, a.from(from, 0), b, acc)", "\t\tteam.Share(k, func(from, to int) {\n\t\t\tchainPart[T](m, n, to-from, c, ldc, a.from(0, from), b.from(from, 0), acc || from > 0)"),
		one("a dot product that a compiler fuses", "dsbo.TestNothingFused", "internal/linalg/vec.go",
			"s += float64(float64(x[i]) * float64(y[i]))", "s += float64(x[i]) * float64(y[i])"),
		one("a kernel's last columns are left out", "internal/kernel.TestGemmExact", kernel+"/gemm_pack.go",
			"\tif from < n {\n\t\tf(from, 1, 1, n-from)\n", "\tif from < n-1 {\n\t\tf(from, 1, 1, n-from)\n"),
		one("a misspelt kernel is the best one", "internal/cli.TestUnknownKernels", kernel+"/path.go",
			"\tcase i < 0:\n\t\treturn best, dsbo", "\tcase i < 0:\n\t\treturn best, nil\n\tcase i < -1:\n\t\treturn best, dsbo"),
	}
}
