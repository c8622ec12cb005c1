package main

// sumBugs are those of numbers, on whatever transport.
func sumBugs() []bug {
	return []bug{
		{"FMA in a sum", "network.TestLocalConforms", []edit{
			{"network/combine.go", `import "dsbo/internal/linalg"`, "import (\n\t\"math\"\n\n\t\"dsbo/internal/linalg\"\n)"},
			{"network/combine.go", "\t\tvec.Axpy(dst, row[k].Weight, in[k][from:to])\n",
				"\t\tfor i, v := range in[k][from:to] {\n\t\t\tdst[i] = math.FMA(row[k].Weight, v, dst[i])\n\t\t}\n"},
		}},
		one("a scale one too small", "network.TestSumsFit", "network/fixed.go",
			"\te += exponentBias\n", "\te += exponentBias - 1\n"),
		one("a root of the tree that is not the nearest", "network.TestTree", "network/tree.go",
			"t.Height < best.Height {", "t.Height > best.Height {"),
		one("terms are cut, not rounded", "network.TestTermsAreRounded", "network/fixed.go",
			"math.RoundToEven(p.times(x))", "math.Trunc(p.times(x))"),
		one("the same draws in all iterations", "network.TestDrawsHaveNames", "network/average.go",
			"uint64(a.id), a.stage, a.count)", "uint64(a.id), 0, a.count)"),
		one("trimmed mixing keeps the largest number", "network.TestRobustFormulas", "network/trimmed.go",
			"s[b : len(s)-b] {", "s[b : len(s)-b+1] {"),
		one("the radius of clipped mixing is a liar's distance", "network.TestRobustFormulas", "network/clipped.go",
			"s[len(s)-1-x.Liars]", "s[len(s)-x.Liars]"),
		one("later epochs mix plainly", "network.TestMembersMixAlike", "network/members.go",
			"w.withMixing(m.Mixing(), func", "w.withMixing(Plain{}, func"),
		one("later epochs have weights of another laziness", "network.TestMembersAreAsLazy", "network/members.go",
			"g.W.asLazyAs(m)", "g.W.asLazyAs(g.W)"),
		one("agents with other bits are not found", "train.TestAgreement", "train/agreement.go",
			"\t\tif !same[v] {\n", "\t\tif !same[v] && e.done == 0 {\n"),
		one("those who agree are blamed", "train.TestAgreement", "train/agreement.go",
			"if d != most {", "if d == most {"),
		one("no noise", "experiment/privacy.TestNoiseFitsTheSensitivity", "experiment/privacy/curator.go",
			"float64(units+discreteGaussian(source))", "float64(units+0*discreteGaussian(source))"),
		one("the same noise for other rows", "experiment/privacy.TestOtherRowsHaveOtherNoise", "experiment/privacy/curator.go",
			"h.Write([]byte(what + \"\\n\" + c.data + \"\\n\"))", "h.Write([]byte(what + \"\\n\"))"),
		one("one iterate of a diverged agent is not seen", "train.TestNaNIsDivergence", "train/agent.go",
			"!(norm <= maxNorm)", "norm > maxNorm"),
	}
}
