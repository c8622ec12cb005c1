package train

import (
	"fmt"
	"os"
	"slices"

	"dsbo/runs"
)

// A Point is a checkpoint of the agents of one process of a run over several.
type Point struct {
	Iteration int       // iterations done
	Round     int       // the next exchange
	Curvature []float64 // that of the run's Config
}

// Points returns the checkpoints of the agents of a process in a run folder, the newest first, and for each damaged file an error
// that names it. They may be those of a run with other settings, which [Run] refuses when it resumes from one.
func Points(f runs.Folder, agents []int) (points []Point, damaged []error, err error) {
	paths, err := f.AgentCheckpoints(agents)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range slices.Backward(paths) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		c, err := parseCheckpoint(data)
		if err != nil {
			damaged = append(damaged, fmt.Errorf("%s: %w", path, err))
			continue
		}
		points = append(points, Point{c.Iteration, c.Round, c.Curvature})
	}
	return points, damaged, nil
}
