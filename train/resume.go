package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	var c *checkpoint
	if r.Resume {
		if c, err = r.readCheckpoint(); err != nil {
			return err
		}
	}
	after := -1
	if c != nil {
		after = c.Iteration
		err = r.resume(c)
	} else if r.writesMetrics() {
		r.metrics, err = createMetrics(r.path(metricsFile))
	}
	if err != nil {
		return err
	}
	if err = r.removeAfter(Folder(r.Dir), after); err == nil {
		err = r.metrics.cut()
	}
	if err != nil {
		return errors.Join(err, r.metrics.close())
	}
	return nil
}

// readCheckpoint returns the checkpoint to resume from, nil if there is none yet. It has to be of a run with this
// configuration.
func (c *Config) readCheckpoint() (*checkpoint, error) {
	g, err := c.Problem.group()
	if err != nil {
		return nil, err
	}
	data, path, err := g.readCheckpoint(Folder(c.Dir), c.From)
	if data == nil || err != nil {
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
	if len(found.Usage) != len(g.local) || found.Iteration > c.K {
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
	config, err := r.identity()
	if err != nil {
		return err
	}
	c := checkpoint{checkpointHead: checkpointHead{
		Config: config, Iteration: r.done, Evaluated: r.evaluated, Round: r.round, Seconds: r.seconds, Curvature: r.Curvature,
	}}
	if r.metrics != nil {
		if err := r.metrics.sync(); err != nil {
			return err
		}
		c.MetricsBytes, c.MetricsSHA256 = r.metrics.size, r.metrics.sum.Sum(nil)
	}
	for _, i := range r.local {
		c.Usage = append(c.Usage, r.agents[i].usage())
		c.add(i, r.agents[i].state())
	}
	c.add(-1, r.eval.state())
	path := r.checkpointPath(Folder(r.Dir), r.done)
	if err := atomicfile.Write(path, c.writeTo); err != nil {
		return err
	}
	if r.OnCheckpoint != nil {
		r.OnCheckpoint(r.done)
	}
	return r.prune(Folder(r.Dir))
}

// resume makes the run stand where the checkpoint was written.
func (r *runner) resume(c *checkpoint) (err error) {
	path := r.checkpointPath(Folder(r.Dir), c.Iteration)
	for k, i := range r.local {
		if err := c.take(i, r.agents[i].state()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		r.agents[i].resume(c.Iteration, c.Usage[k])
	}
	if err := c.take(-1, r.eval.state()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r.done, r.evaluated, r.seconds = c.Iteration, c.Evaluated, c.Seconds
	if !r.writesMetrics() {
		return nil
	}
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
