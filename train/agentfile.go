package train

import (
	"encoding/json"
	"fmt"
	"os"

	"dsbo"
	"dsbo/internal/atomicfile"
)

// Save writes a checkpoint of this agent alone, for runs whose agents are processes of their own: its
// state, its iteration, what it has spent, and round, the number of its next exchange. The file is replaced
// whole or not at all. settings is what the numbers depend on, in a form for JSON, as in [Config].
func (a *Agent) Save(path string, settings any, round int) error {
	config, err := a.identity(settings)
	if err != nil {
		return err
	}
	c := checkpoint{checkpointHead: checkpointHead{Config: config, Iteration: a.k, Round: round, Usage: []Usage{a.Usage()}}}
	c.add(a.id, a.state())
	return atomicfile.Write(path, c.writeTo)
}

// Load makes the agent stand where the checkpoint at path was saved, and returns the round. A checkpoint
// of another agent or with other settings matches [dsbo.ErrConfig], and the error names the difference.
func (a *Agent) Load(path string, settings any) (round int, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	c, err := parseCheckpoint(data)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	here, err := a.identity(settings)
	if err != nil {
		return 0, err
	}
	if diff := differences(c.Config, here); diff != "" {
		return 0, fmt.Errorf("%w: %s is of a run with other settings: %s", dsbo.ErrConfig, path, diff)
	}
	if len(c.Usage) != 1 {
		return 0, fmt.Errorf("%s: %w", path, corrupt("what %d agents have spent", len(c.Usage)))
	}
	if err := c.take(a.id, a.state()); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	a.resume(c.Iteration, c.Usage[0])
	return c.Round, nil
}

func (a *Agent) identity(settings any) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"agent": a.id, "settings": settings})
}
