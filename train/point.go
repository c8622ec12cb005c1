package train

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dsbo/internal/atomicfile"
)

// A Point is a checkpoint of the agents of one process of a run over several: they stand after so many
// iterations, before exchange Round.
type Point struct {
	Iteration int
	Round     int
	Curvature []float64 // what Config.Curvature was
}

// keepPoints is how many points stay in a folder: the newest may be damaged, and a neighbour may need an older one.
const keepPoints = 3

// Points returns what the agents of a process can go on from, the newest first, and the paths of files that are damaged,
// with what is wrong. They may be those of a run with other settings: a run that resumes from one finds out.
func (f Folder) Points(agents []int) (points []Point, damaged []error, err error) {
	paths, err := f.pointPaths(agents)
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

// pointPath returns the path of the point of some agents after so many iterations. Paths sort as iterations do.
func (f Folder) pointPath(agents []int, iteration int) string {
	return f.path(pointPrefix(agents) + fmt.Sprintf("%09d", iteration))
}

func pointPrefix(agents []int) string {
	name := strconv.Itoa(agents[0])
	if last := agents[len(agents)-1]; last != agents[0] {
		name += fmt.Sprintf("-%d", last)
	}
	return checkpointFile + ".agent" + name + "."
}

// pointPaths returns the paths of all points of some agents, oldest first.
func (f Folder) pointPaths(agents []int) ([]string, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries { // sorted
		number, ok := strings.CutPrefix(e.Name(), pointPrefix(agents))
		if _, err := strconv.Atoi(number); ok && err == nil {
			paths = append(paths, filepath.Join(string(f), e.Name()))
		}
	}
	return paths, nil
}

// forget removes the points after an iteration, from which the run now goes on, or -1, and what is left of those that were never
// whole. Later points go with metrics that are about to be written anew: who went on from one of them would not find its own.
func (f Folder) forget(agents []int, iteration int) error {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	removed := false
	for _, e := range entries {
		number, point := strings.CutPrefix(e.Name(), pointPrefix(agents))
		k, err := strconv.Atoi(number)
		half := strings.HasPrefix(e.Name(), "."+pointPrefix(agents)) // see atomicfile
		if half || point && err == nil && k > iteration {
			if err := os.Remove(f.path(e.Name())); err != nil {
				return err
			}
			removed = true
		}
	}
	if removed {
		return atomicfile.SyncDir(string(f))
	}
	return nil
}

// prune removes all but the newest points.
func (f Folder) prune(agents []int) error {
	paths, err := f.pointPaths(agents)
	for len(paths) > keepPoints && err == nil {
		err = os.Remove(paths[0])
		paths = paths[1:]
	}
	return err
}
