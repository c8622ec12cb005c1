package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"dsbo/internal/atomicfile"
)

// keptCheckpoints is how many checkpoints of a process stay: the newest may be damaged, and a neighbour may need an older one.
const keptCheckpoints = 3

// CheckpointPath returns the path of the one checkpoint of a run in one process.
func (f Folder) CheckpointPath() string { return f.Path(checkpointFile) }

// AgentCheckpointPath returns the path of a checkpoint of the agents of one process, after so many iterations. Paths sort as
// iterations do.
func (f Folder) AgentCheckpointPath(agents []int, iteration int) string {
	return f.Path(agentPrefix(agents) + fmt.Sprintf("%09d", iteration))
}

func agentPrefix(agents []int) string {
	name := strconv.Itoa(agents[0])
	if last := agents[len(agents)-1]; last != agents[0] {
		name += fmt.Sprintf("-%d", last)
	}
	return checkpointFile + ".agent" + name + "."
}

// AgentCheckpoints returns the paths of all checkpoints of the agents of one process, oldest first.
func (f Folder) AgentCheckpoints(agents []int) ([]string, error) {
	var paths []string
	err := f.eachCheckpoint(agents, func(name string, iteration int) {
		if iteration >= 0 {
			paths = append(paths, f.Path(name))
		}
	})
	return paths, err
}

// eachCheckpoint calls visit with the file names of the checkpoints of some agents, in the order of iterations, and with −1 for
// what is left of one that was never complete.
func (f Folder) eachCheckpoint(agents []int, visit func(name string, iteration int)) error {
	entries, err := os.ReadDir(string(f)) // sorted
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	prefix := agentPrefix(agents)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+prefix) { // see atomicfile
			visit(e.Name(), -1)
		}
		number, ok := strings.CutPrefix(e.Name(), prefix)
		if k, err := strconv.Atoi(number); ok && err == nil && k >= 0 {
			visit(e.Name(), k)
		}
	}
	return err
}

// RemoveCheckpointsAfter removes the checkpoints after an iteration, from which the run now goes on, or −1, and what is left
// of those that were never complete. Later ones go with metrics that are about to be written anew: a process that went on from
// one of them would not find its own.
func (f Folder) RemoveCheckpointsAfter(agents []int, iteration int) error {
	var later []string
	err := f.eachCheckpoint(agents, func(name string, k int) {
		if k < 0 || k > iteration {
			later = append(later, f.Path(name))
		}
	})
	if err != nil || len(later) == 0 {
		return err
	}
	for _, path := range later {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return atomicfile.SyncDir(string(f))
}

// RemoveOldCheckpoints removes all but the newest checkpoints of some agents.
func (f Folder) RemoveOldCheckpoints(agents []int) error {
	paths, err := f.AgentCheckpoints(agents)
	for len(paths) > keptCheckpoints && err == nil {
		err = os.Remove(paths[0])
		paths = paths[1:]
	}
	return err
}
