package runs_test

import (
	"encoding/json"
	"fmt"
	"log"
	"os"

	"dsbo/runs"
)

// A run folder says how its run stands, and in what its settings differ from others.
func Example() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	folder := runs.Folder(dir)
	config := runs.Config{Task: "mnist", Seed: 1, Params: json.RawMessage(`{"alpha": 0.1}`), Build: runs.ThisBuild()}
	if err := folder.WriteConfig(config); err != nil {
		log.Fatal(err)
	}
	state, err := folder.State()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state)

	there, err := folder.ReadConfig()
	if err != nil {
		log.Fatal(err)
	}
	config.Seed, config.Params = 5, json.RawMessage(`{"alpha": 0.2}`)
	diff, err := runs.Diff(there, config)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(diff)
	// Output:
	// unfinished
	// -seed is 1 there, 5 here, -alpha is 0.1 there, 0.2 here
}
