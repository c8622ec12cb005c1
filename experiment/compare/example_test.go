package compare_test

import (
	"fmt"
	"log"

	"dsbo/experiment/compare"
)

// A spec names tasks and methods by command lines; what it leaves out has defaults.
func ExampleParse() {
	s, err := compare.Parse([]byte(compare.Example))
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range s.Tasks {
		for _, m := range s.Methods {
			fmt.Printf("%s: %s %v, seeds %v\n", t.Name, m.Name, m.Grid, s.Seeds)
		}
	}
	_, err = compare.Parse([]byte(`{"tasks": ["mnist"], "methods": ["newtoncg"], "seeds": [1, 1]}`))
	fmt.Println(err)
	// Output:
	// synthetic -r=1 -p=20: newtoncg [], seeds [1 2 3]
	// synthetic -r=1 -p=20: madsbo_tuned [], seeds [1 2 3]
	// synthetic -r=1 -p=20: dsoba -K=200 [{alpha [0.01 0.1 1]}], seeds [1 2 3]
	// mnist -train=250: newtoncg [], seeds [1 2 3]
	// mnist -train=250: madsbo_tuned [], seeds [1 2 3]
	// mnist -train=250: dsoba -K=200 [{alpha [0.01 0.1 1]}], seeds [1 2 3]
	// field "seeds": they must differ; 1 is there twice
}
