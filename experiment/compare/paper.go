package compare

import _ "embed"

//go:embed paper.json
var paper []byte

// Paper returns the comparisons that the paper's figures 1 to 3 show, for the tasks synthetic and
// mnist: test accuracy, test loss and Φ against iterations, time and traffic. The paper gives no
// step sizes; the steps of figure 1(b, c) are the best of stated grids.
func Paper() *Spec {
	s, err := Parse(paper)
	if err != nil {
		panic(err) // the embedded file is tested
	}
	return s
}
