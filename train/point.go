package train

import (
	"fmt"
	"os"
	"slices"

	"dsbo/runs"
)

// A Point is a checkpoint of the agents of one process of a run over several: they stand after so many
// iterations, before exchange Round.
type Point struct {
	Iteration int
	Round     int
	Curvature []float64 // what Config.Curvature was
}

// Points returns what the agents of a process can go on from in a run folder, the newest first, and the paths of files that are damaged,
// with what is wrong. They may be those of a run with other settings: a run that resumes from one finds out.
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
