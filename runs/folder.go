package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/wording"
	"dsbo/network/membership"
)

// Files of a run folder.
const (
	ConfigFile     = "config.json"
	MetricsFile    = "metrics.jsonl"
	SummaryFile    = "summary.json"
	LambdaFile     = "lambda.npy"
	OmegaFile      = "omega.npy"
	ModelFile      = "model.json"        // the model of a table, of package modelfile
	WeightsFile    = "model.safetensors" // its weights
	ONNXFile       = "model.onnx"        // the whole of it for other programs
	MembershipFile = "agent.json"
	ChangesFile    = "membership.jsonl" // the changes of who takes part, of package membership
	KeptPrefix     = "kept."            // begins the names of what agents have found after the iterations
	OwnPrefix      = "own.site"         // begins the names of the files of models with a site's own level
	LevelFile      = "level.txt"        // suffix of the file with one sentence on the agent's level
	DisclosureFile = "disclosure.json"  // what has left the agent, which it has signed
	DisclosurePage = "disclosure.html"  // the same for people
	SentFile       = "sent.json"        // the counts that they are made of
	AuditFile      = "audit.jsonl"      // what an agent did, chained by digests, over all runs in its folder
	RegisterFile   = "register.json"    // what an agent has promised the others, of package network/register
)

// A Folder is the path of a run folder.
type Folder string

// A Mode is the use of a folder that may hold a run already.
type Mode int

// Modes of opening a folder.
const (
	Fresh   Mode = iota // the folder must have no run
	Resume              // the folder must have an unfinished run, to be resumed
	Replace             // the run in the folder is removed
)

// ModeOf returns the mode that the flags -resume and -force choose, of which one at most is given.
func ModeOf(resume, force bool) Mode {
	switch {
	case resume:
		return Resume
	case force:
		return Replace
	}
	return Fresh
}

// Path returns the path of a file in the folder.
func (f Folder) Path(name string) string { return filepath.Join(string(f), name) }

// Has reports whether the folder has a file of that name.
func (f Folder) Has(name string) (bool, error) {
	_, err := files.Stat(f.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Check returns an error if a run may not use the folder in this mode, before anything is computed.
// Its errors match [dsbo.ErrConfig].
func (f Folder) Check(m Mode) error {
	state, err := f.State()
	if err != nil {
		return err
	}
	switch {
	case m == Resume && state == Absent:
		return dsbo.ConfigErrorf("no run to resume in %s", f)
	case m == Resume && state == Finished:
		return dsbo.ConfigErrorf("the run in %s is finished: there is nothing to resume", f)
	case m == Fresh && state == Finished:
		return dsbo.ConfigErrorf("%s holds a finished run: -force replaces it, -out chooses another folder",
			f)
	case m == Fresh && state != Absent:
		return dsbo.ConfigErrorf(
			"%s holds an unfinished run: -resume goes on with it, -force replaces it, -out chooses another folder", f)
	case m == Resume:
		return f.CheckResumable()
	}
	return nil
}

// Open prepares the folder, which should be locked, for a run. With Replace it removes the old
// run's files, so settings should be checked and data loaded before.
func (f Folder) Open(m Mode) error {
	if err := f.Check(m); err != nil {
		return err
	}
	if err := files.MkdirAll(string(f)); err != nil {
		return err
	}
	if m != Replace {
		return nil
	}
	// Checkpoints go first, so that a crash cannot leave one without the records that it refers to.
	for _, prefix := range []string{checkpointFile, KeptPrefix, OwnPrefix} {
		if err := f.RemoveWithPrefix(prefix); err != nil {
			return err
		}
	}
	var rest []string
	for _, name := range []string{SumsFile, SummaryFile, MetricsFile, LambdaFile, OmegaFile, AssessmentFile,
		MembershipFile, ChangesFile, RegisterFile, SetupFile, DisclosureFile, DisclosurePage, SentFile,
		LambdaTableFile, PathFile, ModelFile, WeightsFile, ONNXFile} {
		rest = append(rest, f.Path(name))
	}
	return removeFiles(f, rest) // before a configuration marks the folder as the new run's
}

// ReadLevels returns the sentences on the levels of the sites whose folder it is.
func ReadLevels(f Folder) (texts []string, err error) {
	paths, err := f.PathsWithPrefix(OwnPrefix)
	for _, path := range paths {
		if name := filepath.Base(path); err == nil && strings.HasSuffix(name, "."+LevelFile) {
			var text []byte
			text, err = f.ReadFile(name)
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
	return texts, err
}

// RemoveWithPrefix removes the files whose names begin with a prefix.
func (f Folder) RemoveWithPrefix(prefix string) error {
	paths, err := f.PathsWithPrefix(prefix)
	return cmp.Or(err, removeFiles(f, paths))
}

// removeFiles removes files of the folder, which need not be there, and brings that to the disk.
func removeFiles(f Folder, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	for _, path := range paths {
		if err := files.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return files.SyncDir(string(f))
}

// Abandon removes all files of a run that could not continue after its start, so that Lock's Close
// can remove a folder that it has made.
func (f Folder) Abandon() error {
	if err := f.Open(Replace); err != nil {
		return err
	}
	return files.Remove(f.Path(ConfigFile))
}

// A State is the state of a run folder.
type State string

// States of a run folder. A summary has one of the last four.
const (
	Absent      State = ""           // the folder has no run
	Unfinished  State = "unfinished" // the run is under way, or was killed
	Finished    State = "finished"
	Interrupted State = "interrupted" // stopped by a signal, with a checkpoint
	Diverged    State = "diverged"    // iterates became NaN, infinite or too large
	Failed      State = "failed"
)

// StateOf returns the state of a run that ended with err.
func StateOf(err error) State {
	switch {
	case err == nil:
		return Finished
	case errors.Is(err, dsbo.ErrDiverged):
		return Diverged
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Failed
}

// State returns the state of the run in the folder. A folder without a configuration of a run, but
// with other files, is an error. A run whose summary is of an earlier epoch than the last one of
// its membership log counts as unfinished: the members went back to an earlier iteration.
func (f Folder) State() (State, error) {
	entries, err := files.ReadDir(string(f))
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		// Ignore temporary files and empty folders, which a killed process may leave.
		return files.IsTemporary(e.Name()) || e.IsDir() && isEmpty(f, e.Name())
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return Absent, nil
	case err != nil:
		return Absent, dsbo.ConfigErrorf("run folder: %w", err)
	}
	config, err := readFile[struct{ Build *Build }](f, ConfigFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && config.Build == nil:
		return Absent, dsbo.ConfigErrorf("%s is neither empty nor a run folder", f)
	case err != nil:
		return Absent, dsbo.ConfigErrorf("run folder: %w", err)
	}
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == SummaryFile }) {
		return Unfinished, nil
	}
	summary, err := readFile[struct {
		State State
		Epoch int
	}](f, SummaryFile)
	if err == nil && summary.State == Finished {
		var log membership.Log
		if log, err = f.ReadChanges(); summary.Epoch < len(log) {
			return Unfinished, err
		}
	}
	return summary.State, err
}

// isEmpty reports whether a folder in f has nothing in it, such as the folder of a run that has
// not begun.
func isEmpty(f Folder, name string) bool {
	entries, err := files.ReadDir(f.Path(name))
	return err == nil && len(entries) == 0
}

// readFile reads a JSON object of a folder. Numbers that it lacks are unknown.
func readFile[T any](f Folder, name string) (v T, err error) {
	data, err := f.ReadFile(name)
	if err != nil {
		setUnknown(reflect.ValueOf(&v).Elem())
		return v, err
	}
	return parseFile[T](f.Path(name), data)
}

// parseFile reads a JSON object. Numbers that it lacks are unknown.
func parseFile[T any](name string, data []byte) (v T, err error) {
	setUnknown(reflect.ValueOf(&v).Elem())
	if err := json.Unmarshal(data, &v); err != nil {
		return v, dsbo.ConfigErrorf("%s: %w", name, err)
	}
	return v, nil
}

// writeJSON writes a value to a file of the folder, as JSON.
func writeJSON(f Folder, name string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path(name), err)
	}
	return f.WriteFile(name, append(wording.JSON(data), '\n'))
}

// ReadConfig reads config.json.
func (f Folder) ReadConfig() (Config, error) {
	c, err := readFile[Config](f, ConfigFile)
	if err == nil {
		err = checkFormat(f, c.Format)
	}
	return c, err
}

// ReadClusterConfig reads the config.json of a run whose agents have folders of their own.
func (f Folder) ReadClusterConfig() (ClusterConfig, error) {
	return readFile[ClusterConfig](f, ConfigFile)
}

// ReadSummary reads summary.json. Numbers that it lacks are unknown.
func (f Folder) ReadSummary() (Summary, error) { return readFile[Summary](f, SummaryFile) }

// IsFinal reports whether the folder has the result of a run whose agent is done: its agent.json is
// own. Other membership, or none, is not final.
func (f Folder) IsFinal(own Membership) (bool, error) {
	if m, err := readFile[Membership](f, MembershipFile); err != nil || m != own {
		return false, nil
	}
	state, err := f.State()
	return state == Finished, err
}

// WriteConfig writes config.json, which makes the folder a run folder: a [Config] or
// a [ClusterConfig].
func (f Folder) WriteConfig(config any) error { return writeJSON(f, ConfigFile, config) }

// WriteSummary writes summary.json: a [Summary] or a [ClusterSummary].
func (f Folder) WriteSummary(summary any) error { return writeJSON(f, SummaryFile, summary) }

// WriteMembership writes agent.json.
func (f Folder) WriteMembership(m Membership) error { return writeJSON(f, MembershipFile, m) }

// Records reads metrics.jsonl, but for a last line that is cut short.
func (f Folder) Records() ([]Record, error) {
	data, err := f.ReadFile(MetricsFile)
	if err != nil {
		return nil, err
	}
	records, _, err := ReadRecords(f.Path(MetricsFile), bytes.NewReader(data))
	return records, err
}

// ReadChanges reads membership.jsonl; none of a run without.
func (f Folder) ReadChanges() (membership.Log, error) {
	data, err := f.ReadFile(ChangesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return membership.Parse(f.Path(ChangesFile), bytes.NewReader(data))
}

// WriteChanges writes membership.jsonl.
func (f Folder) WriteChanges(l membership.Log) error {
	return f.WriteFile(ChangesFile, l.Bytes())
}

// ReadLambda reads lambda.npy: its numbers in order, whatever their shape.
func (f Folder) ReadLambda() ([]float64, error) {
	data, err := f.ReadFile(LambdaFile)
	if err != nil {
		return nil, err
	}
	lambda, _, err := files.ReadNPY(data)
	if err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", f.Path(LambdaFile), err)
	}
	return lambda, nil
}

// WriteArray writes a NumPy file, lambda.npy or omega.npy, in the given shape.
func (f Folder) WriteArray(name string, v []float64, shape ...int) error {
	var file bytes.Buffer
	if err := files.WriteNPY(&file, v, shape...); err != nil {
		return dsbo.ShapeErrorf("%s: %w", f.Path(name), err)
	}
	return f.WriteFile(name, file.Bytes())
}
