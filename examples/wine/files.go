package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"dsbo"
	"dsbo/experiment"
)

// file returns the path of an agent's file, whatever its format.
func (c *cellars) file(agent int) (string, error) {
	files, err := filepath.Glob(filepath.Join(c.folder, fmt.Sprintf("agent-%d.*", agent)))
	if err != nil || len(files) != 1 {
		return "", dsbo.ConfigErrorf("-data must have one file for agent %d; it has %q", agent, files)
	}
	return files[0], nil
}

// Fingerprint stands for an agent's wines before the agents meet: the masks of the sums by which
// features are found follow from it.
func (c *cellars) Fingerprint(a experiment.Agents) (digest []byte, err error) {
	for _, i := range a.Local {
		path, err := c.file(i)
		if err != nil {
			return nil, err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		digest = append(digest, sum[:]...)
	}
	return digest, nil
}
