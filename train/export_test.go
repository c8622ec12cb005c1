package train

import "os"

// CheckpointIteration reads how many iterations a checkpoint stands after.
func CheckpointIteration(path string) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	c, err := parseCheckpoint(data)
	if err != nil {
		return 0, err
	}
	return c.Iteration, nil
}
