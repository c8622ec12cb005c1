package data_test

import (
	"fmt"

	"dsbo"
	"dsbo/data"
)

// The paper's synthetic task, at a small size.
func ExampleSynthetic() {
	task, err := data.Synthetic{Agents: 4, Features: 10, Rate: 0.5}.Task()
	if err != nil {
		fmt.Println(err)
		return
	}
	s := task.Shards[3]
	fmt.Println(len(task.Shards), "agents,", task.Features, "features")
	fmt.Println(s.Train.Len(), "to train on,", s.Val.Len(), "to validate,", task.Test.Len(), "to test")
	// Output:
	// 4 agents, 10 features
	// 500 to train on, 500 to validate, 2000 to test
}

// The same name is the same minibatch, whatever was drawn in between.
func ExampleSampler_Draw() {
	s := data.Sampler{Seed: 1, Agent: 2, Batch: 4}
	phi := dsbo.Sample{Set: dsbo.Upper, K: 7, T: 0}
	fmt.Println(s.Draw(phi, 1000))
	fmt.Println(s.Draw(dsbo.Sample{Set: dsbo.Curvature, K: 7, T: 0}, 1000))
	fmt.Println(s.Draw(phi, 1000))
	// Output:
	// [78 89 683 974]
	// [102 455 755 864]
	// [78 89 683 974]
}
