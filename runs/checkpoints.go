package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dsbo/internal/files"
)

// checkpointFile begins the names of checkpoints.
const checkpointFile = "checkpoint"

// CheckpointPath returns the path of the checkpoint after an iteration of the agents of one
// process, nil for all agents in one.
func (f Folder) CheckpointPath(agents []int, iteration int) string {
	return f.Path(checkpointPrefix(agents) + fmt.Sprintf("%09d", iteration))
}

// checkpointPrefix returns the part of one process's checkpoint names before the iteration. Its
// agents are consecutive; none means all agents in one process.
func checkpointPrefix(agents []int) string {
	if len(agents) == 0 {
		return checkpointFile + "."
	}
	name := strconv.Itoa(agents[0])
	if last := agents[len(agents)-1]; last != agents[0] {
		name += fmt.Sprintf("-%d", last)
	}
	return checkpointFile + ".agent" + name + "."
}

// A checkpointName is a path split into its process and its iteration.
type checkpointName struct {
	path      string
	process   string // all before the iteration
	iteration int
}

// allCheckpoints returns the checkpoints of all processes, oldest first. A folder that is not there
// has none.
func allCheckpoints(f Folder) (all []checkpointName, err error) {
	paths, err := f.PathsWithPrefix(checkpointFile)
	for _, path := range paths {
		dot := strings.LastIndexByte(path, '.') + 1
		if k, err := strconv.Atoi(path[dot:]); err == nil && k >= 0 {
			all = append(all, checkpointName{path, path[:dot], k})
		}
	}
	slices.SortFunc(all, func(a, b checkpointName) int { return cmp.Compare(a.iteration, b.iteration) })
	return all, err
}

// checkpointsOf returns the checkpoints of the agents of one process, oldest first.
func checkpointsOf(f Folder, agents []int) ([]checkpointName, error) {
	all, err := allCheckpoints(f)
	process := f.Path(checkpointPrefix(agents))
	return slices.DeleteFunc(all, func(c checkpointName) bool { return c.process != process }), err
}

// Checkpoints returns the paths of all checkpoints of the agents of one process, oldest first. A
// folder that is not there has none.
func (f Folder) Checkpoints(agents []int) (paths []string, err error) {
	all, err := checkpointsOf(f, agents)
	for _, c := range all {
		paths = append(paths, c.path)
	}
	return paths, err
}

// RemoveCheckpointsAfter removes the checkpoints of agents after an iteration at which an epoch
// begins; they are of an earlier epoch, from which this one cannot resume. It is not needed when a
// run goes back within an epoch: it will reach the same bits again.
func (f Folder) RemoveCheckpointsAfter(agents []int, iteration int) error {
	all, err := checkpointsOf(f, agents)
	if err != nil {
		return err
	}
	var later []string
	for _, c := range all {
		if c.iteration > iteration {
			later = append(later, c.path)
		}
	}
	return removeFiles(f, later)
}

// RemoveOldCheckpoints removes checkpoints of some agents that are no longer needed: all but the
// newest few of those up to an iteration. Those after it stay, in a run that has gone back.
func (f Folder) RemoveOldCheckpoints(agents []int, done, few int) error {
	all, err := checkpointsOf(f, agents)
	all = slices.DeleteFunc(all, func(c checkpointName) bool { return c.iteration > done })
	for _, c := range all[:max(0, len(all)-few)] {
		if err == nil {
			err = files.Remove(c.path)
		}
	}
	return err
}

// RemoveAllButNewestCheckpoints removes all checkpoints of a finished run except the newest of each
// process, and returns the paths of these.
func (f Folder) RemoveAllButNewestCheckpoints() (kept []string, err error) {
	all, err := allCheckpoints(f)
	newest := map[string]string{} // by process; all is ordered, so the last one wins
	for _, c := range all {
		newest[c.process] = c.path
	}
	kept = slices.Collect(maps.Values(newest))
	var old []string
	for _, c := range all {
		if !slices.Contains(kept, c.path) {
			old = append(old, c.path)
		}
	}
	return kept, cmp.Or(err, removeFiles(f, old))
}

// PathsWithPrefix returns the paths of the folder's files whose names begin with a prefix, sorted.
// A folder that is not there has none.
func (f Folder) PathsWithPrefix(prefix string) (paths []string, err error) {
	entries, err := files.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			paths = append(paths, f.Path(e.Name()))
		}
	}
	return paths, err
}
