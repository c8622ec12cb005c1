package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/atomicfile"
)

// open begins the run's files: anew, or where the checkpoint stands.
func (r *runner) open() (err error) {
	if r.Dir == "" {
		return nil
	}
	if r.Resume {
		c, err := r.readCheckpoint()
		if err != nil {
			return err
		}
		if c != nil {
			return r.resume(c)
		}
	}
	r.metrics, err = createMetrics(r.path(metricsFile))
	return err
}

// readCheckpoint returns the checkpoint to resume from, nil if there is none yet. It has to be of a run with this
// configuration.
func (c *Config) readCheckpoint() (*checkpoint, error) {
	path := c.path(checkpointFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := parseCheckpoint(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	here, err := c.identity()
	if err != nil {
		return nil, err
	}
	if diff := differences(found.Config, here); diff != "" {
		return nil, fmt.Errorf("%w: %s is of a run with other settings: %s", dsbo.ErrConfig, path, diff)
	}
	if len(found.Usage) != c.W.N() || found.Iteration > c.K {
		return nil, fmt.Errorf("%s: %w", path, corrupt("%d agents after %d iterations", len(found.Usage), found.Iteration))
	}
	return found, nil
}

func (c *Config) path(name string) string { return filepath.Join(c.Dir, name) }

// save writes the checkpoint.
func (r *runner) save() error {
	if r.Dir == "" {
		return nil
	}
	if err := r.metrics.sync(); err != nil {
		return err
	}
	config, err := r.identity()
	if err != nil {
		return err
	}
	c := checkpoint{checkpointHead: checkpointHead{
		Config: config, Iteration: r.done, Seconds: r.seconds,
		MetricsBytes: r.metrics.size, MetricsSHA256: r.metrics.sum.Sum(nil),
	}}
	for i, a := range r.agents {
		c.Usage = append(c.Usage, a.Usage())
		c.add(i, a.state())
	}
	c.add(-1, r.eval.state())
	return atomicfile.Write(r.path(checkpointFile), c.writeTo)
}

// resume makes the run stand where the checkpoint was written.
func (r *runner) resume(c *checkpoint) (err error) {
	for i, a := range r.agents {
		if err := c.take(i, a.state()); err != nil {
			return fmt.Errorf("%s: %w", r.path(checkpointFile), err)
		}
		a.resume(c.Iteration, c.Usage[i])
	}
	if err := c.take(-1, r.eval.state()); err != nil {
		return fmt.Errorf("%s: %w", r.path(checkpointFile), err)
	}
	r.done, r.seconds = c.Iteration, c.Seconds
	r.metrics, r.records, err = reopenMetrics(r.path(metricsFile), c.MetricsBytes, c.MetricsSHA256)
	return err
}

// differences names the settings in which two configurations differ, "" if they do not.
func differences(there, here json.RawMessage) string {
	a, b := map[string]string{}, map[string]string{}
	flatten(a, "", there)
	flatten(b, "", here)
	for k := range b {
		if _, ok := a[k]; !ok {
			a[k] = "unset"
		}
	}
	var diff []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		now, ok := b[k]
		if !ok {
			now = "unset"
		}
		if a[k] != now {
			diff = append(diff, fmt.Sprintf("%s is %s there and %s here", k, a[k], now))
		}
	}
	return strings.Join(diff, ", ")
}

// flatten lists the values of a JSON object by the path to them.
func flatten(into map[string]string, path string, value json.RawMessage) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) != nil || object == nil {
		into[path] = string(value)
		return
	}
	for k, v := range object {
		if path != "" {
			k = path + "." + k
		}
		flatten(into, k, v)
	}
}
