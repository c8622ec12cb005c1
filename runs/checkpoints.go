package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"dsbo/internal/disk"
)

// keptCheckpoints is the number of checkpoints of a process that are kept: the newest may be damaged, and a neighbour may need an older one.
const keptCheckpoints = 3

// checkpointFile begins the names of checkpoints. Alone it is that of the one checkpoint that a process of all agents once had.
const checkpointFile = "checkpoint"

// CheckpointPath returns the path of the checkpoint after an iteration of the agents of one process, nil for all agents in one.
func (f Folder) CheckpointPath(agents []int, iteration int) string {
	return f.Path(checkpointPrefix(agents) + fmt.Sprintf("%09d", iteration))
}

// checkpointPrefix returns the beginning of the names of the checkpoints of some agents. The iteration comes after it.
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

// A numbered is a checkpoint and its iteration; -1 where its name does not tell.
type numbered struct {
	path      string
	iteration int
}

// checkpoints returns the checkpoints of the agents of one process, oldest first. A folder that is not there has none.
func (f Folder) checkpoints(agents []int) (all []numbered, err error) {
	entries, err := disk.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		digits, ours := strings.CutPrefix(e.Name(), checkpointPrefix(agents))
		if k, err := strconv.Atoi(digits); ours && err == nil && k >= 0 {
			all = append(all, numbered{f.Path(e.Name()), k})
		}
		if e.Name() == checkpointFile && len(agents) == 0 {
			all = append(all, numbered{f.Path(e.Name()), -1})
		}
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.iteration, b.iteration) })
	return all, err
}

// Checkpoints returns the paths of all checkpoints of the agents of one process, oldest first. A folder that is not there has none.
func (f Folder) Checkpoints(agents []int) (paths []string, err error) {
	all, err := f.checkpoints(agents)
	for _, c := range all {
		paths = append(paths, c.path)
	}
	return paths, err
}

// RemoveCheckpointsAfter removes the checkpoints of agents after the iteration from which the run now goes on (−1: all of them). Their
// records in metrics.jsonl are about to be written anew: a process that went on from one of them would not find its own.
func (f Folder) RemoveCheckpointsAfter(agents []int, iteration int) error {
	all, err := f.checkpoints(agents)
	later := slices.DeleteFunc(all, func(c numbered) bool { return iteration >= 0 && c.iteration <= iteration })
	if err != nil || len(later) == 0 {
		return err
	}
	for _, c := range later {
		if err := disk.Remove(c.path); err != nil {
			return err
		}
	}
	return disk.SyncDir(string(f))
}

// RemoveOldCheckpoints removes all but the newest checkpoints of some agents.
func (f Folder) RemoveOldCheckpoints(agents []int) error {
	all, err := f.checkpoints(agents)
	for len(all) > keptCheckpoints && err == nil {
		err = disk.Remove(all[0].path)
		all = all[1:]
	}
	return err
}

// filesWith returns the paths of the folder's files whose names begin with a prefix, sorted. A folder that is not there has none.
func (f Folder) filesWith(prefix string) (paths []string, err error) {
	entries, err := disk.ReadDir(string(f))
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
