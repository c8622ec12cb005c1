package main

import "slices"

// sumBugs are those of numbers, on whatever transport.
func sumBugs() []bug {
	const network, algo = "network", "algo"
	return []bug{
		{"FMA in a sum", []edit{
			{"network/combine.go", `import "dsbo/internal/vec"`, "import (\n\t\"math\"\n\n\t\"dsbo/internal/vec\"\n)"},
			{"network/combine.go", "\t\t\tvec.Axpy(d, row[k].Weight, in[k][lo:hi])\n",
				"\t\t\tfor i, v := range in[k][lo:hi] {\n\t\t\t\td[i] = math.FMA(row[k].Weight, v, d[i])\n\t\t\t}\n"},
		}, []string{network, algo, "train"}},
		{"a scale one too small", []edit{{"network/fixed.go", "\te += exponentBias\n", "\te += exponentBias - 1\n"}}, []string{network}},
		{"a root of the tree that is not the nearest", []edit{{"network/tree.go", "t.Height < best.Height {", "t.Height > best.Height {"}}, []string{network}},
	}
}

// bugs returns all.
func bugs() []bug { return slices.Concat(exchangeBugs(), fileBugs(), memberBugs(), sumBugs()) }
