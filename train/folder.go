package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gorgonia.org/tensor"

	"dsbo"
	"dsbo/internal/atomicfile"
)

// Files of a run folder.
const (
	configFile     = "config.json"
	metricsFile    = "metrics.jsonl"
	checkpointFile = "checkpoint"
	summaryFile    = "summary.json"
	lambdaFile     = "lambda.npy"
	omegaFile      = "omega.npy"
)

// A Folder is the path of a run folder.
type Folder string

// Mode says what may be done with what stands in a folder.
type Mode int

// Modes of opening a folder.
const (
	Fresh   Mode = iota // nothing of a run may stand there
	Resume              // an unfinished run must stand there, and goes on
	Replace             // whatever run stands there is removed
)

func (f Folder) path(name string) string { return filepath.Join(string(f), name) }

// Check reports, before anything is computed, why a run could not write to the folder. It leaves nothing
// behind and removes nothing. Errors that another choice of the user avoids match [dsbo.ErrConfig].
func (f Folder) Check(m Mode) error {
	state, err := f.State()
	if err != nil {
		return err
	}
	switch {
	case m == Resume && state == "":
		return fmt.Errorf("%w: no run to resume in %s", dsbo.ErrConfig, f)
	case m == Resume && state == Finished:
		return fmt.Errorf("%w: the run in %s is finished: there is nothing to resume", dsbo.ErrConfig, f)
	case m == Fresh && state == Finished:
		return fmt.Errorf("%w: %s holds a finished run: -force replaces it, -out chooses another folder", dsbo.ErrConfig, f)
	case m == Fresh && state != "":
		return fmt.Errorf("%w: %s holds an unfinished run: -resume goes on with it, -force replaces it, -out chooses another folder", dsbo.ErrConfig, f)
	}
	return f.probe()
}

// probe tries whether files can be made in the folder, or the folder itself.
func (f Folder) probe() error {
	dir := string(f)
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%w: %s is a file: want a folder", dsbo.ErrConfig, dir)
		}
		if err == nil {
			break
		}
		if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
			dir = parent
			continue
		}
		return fmt.Errorf("%w: folder %s: %w", dsbo.ErrConfig, f, err)
	}
	test, err := os.CreateTemp(dir, ".probe.*.tmp")
	if err != nil {
		return fmt.Errorf("%w: folder %s cannot be written to: %w", dsbo.ErrConfig, f, err)
	}
	return errors.Join(test.Close(), os.Remove(test.Name()))
}

// Open makes the folder ready. Replace removes the files of the run that stands there, so it is called
// when all else is checked and loaded.
func (f Folder) Open(m Mode) error {
	if err := f.Check(m); err != nil {
		return err
	}
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return err
	}
	if m != Replace {
		return nil
	}
	names := []string{summaryFile, checkpointFile, metricsFile, lambdaFile, omegaFile}
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), checkpointFile+".") {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Finished is the state of a run that has come to its end.
const Finished = "finished"

// State returns how the run in the folder stands: "" if there is none, [Finished], or what else it says
// of itself (interrupted, diverged), or "unfinished" if it says nothing. A folder that holds anything
// but a run is an error.
func (f Folder) State() (string, error) {
	entries, err := os.ReadDir(string(f))
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".tmp") // left by who was killed as it wrote
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("%w: run folder: %w", dsbo.ErrConfig, err)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	var config struct{ Build *Build }
	if err := f.read(configFile, &config); err != nil || config.Build == nil {
		return "", fmt.Errorf("%w: %s is neither empty nor a run folder", dsbo.ErrConfig, f)
	}
	if !has(summaryFile) {
		return "unfinished", nil
	}
	var summary struct{ State string }
	if err := f.read(summaryFile, &summary); err != nil {
		return "", err
	}
	return summary.State, nil
}

func (f Folder) read(name string, into any) error {
	data, err := os.ReadFile(f.path(name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: %s: %w", dsbo.ErrConfig, f.path(name), err)
	}
	return nil
}

// ReadConfig reads config.json into a value of the type that it was written from.
func (f Folder) ReadConfig(into any) error { return f.read(configFile, into) }

// ReadSummary reads summary.json in the same way.
func (f Folder) ReadSummary(into any) error { return f.read(summaryFile, into) }

// Records reads metrics.jsonl.
func (f Folder) Records() ([]Record, error) {
	file, err := os.Open(f.path(metricsFile))
	if err != nil {
		return nil, err
	}
	records, err := ReadRecords(file.Name(), file)
	return records, errors.Join(err, file.Close())
}

// WriteConfig writes config.json. Its object must have a field "build" of type [Build]: that is what makes the
// folder a run folder.
func (f Folder) WriteConfig(config any) error { return f.write(configFile, config) }

// WriteSummary writes summary.json. Its object must have a field "state".
func (f Folder) WriteSummary(summary any) error { return f.write(summaryFile, summary) }

func (f Folder) write(name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", f.path(name), err)
	}
	return atomicfile.WriteBytes(f.path(name), append(data, '\n'))
}

// WriteLambda and WriteOmega write x̄ and the model as NumPy files, with Gorgonia's own writer, in the
// given shape.
func (f Folder) WriteLambda(x []float64, shape ...int) error { return f.npy(lambdaFile, x, shape) }

// WriteOmega writes omega.npy.
func (f Folder) WriteOmega(y []float64, shape ...int) error { return f.npy(omegaFile, y, shape) }

func (f Folder) npy(name string, v []float64, shape []int) error {
	if want := tensor.Shape(shape).TotalSize(); want != len(v) {
		return fmt.Errorf("%w: %s: %d numbers in the shape %v", dsbo.ErrShape, name, len(v), shape)
	}
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(slices.Clone(v)))
	return atomicfile.Write(f.path(name), func(w io.Writer) error { return t.WriteNpy(w) })
}
