package runs

import (
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

// CheckpointPath returns the path of the one checkpoint of a run in one process.
func (f Folder) CheckpointPath() string { return f.Path(checkpointFile) }

// AgentCheckpointPath returns the path of the checkpoint of the agents of one process after an iteration. Paths sort as
// iterations do.
func (f Folder) AgentCheckpointPath(agents []int, iteration int) string {
	return f.Path(agentPrefix(agents) + fmt.Sprintf("%09d", iteration))
}

// agentPrefix returns the beginning of the names of the checkpoints of some agents.
func agentPrefix(agents []int) string {
	name := strconv.Itoa(agents[0])
	if last := agents[len(agents)-1]; last != agents[0] {
		name += fmt.Sprintf("-%d", last)
	}
	return checkpointFile + ".agent" + name + "."
}

// AgentCheckpoints returns the paths of all checkpoints of the agents of one process, oldest first.
func (f Folder) AgentCheckpoints(agents []int) ([]string, error) {
	return f.filesWith(agentPrefix(agents))
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

// RemoveCheckpointsAfter removes the checkpoints of agents after the iteration from which the run now goes on (−1: all of them),
// and those that were never complete. Their records in metrics.jsonl are about to be written anew: a process that went on from
// one of them would not find its own.
func (f Folder) RemoveCheckpointsAfter(agents []int, iteration int) error {
	all, err := f.AgentCheckpoints(agents)
	partial, partialErr := f.filesWith("." + agentPrefix(agents)) // see disk.Write
	last := f.AgentCheckpointPath(agents, iteration)
	later := slices.DeleteFunc(all, func(path string) bool { return iteration >= 0 && path <= last })
	if err = errors.Join(err, partialErr); err != nil || len(later)+len(partial) == 0 {
		return err
	}
	for _, path := range append(later, partial...) {
		if err := disk.Remove(path); err != nil {
			return err
		}
	}
	return disk.SyncDir(string(f))
}

// RemoveOldCheckpoints removes all but the newest checkpoints of some agents.
func (f Folder) RemoveOldCheckpoints(agents []int) error {
	paths, err := f.AgentCheckpoints(agents)
	for len(paths) > keptCheckpoints && err == nil {
		err = disk.Remove(paths[0])
		paths = paths[1:]
	}
	return err
}
