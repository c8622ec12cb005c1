package command

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"dsbo"
	"dsbo/runs"
	"dsbo/runs/report"
)

// An mlflowStore is a folder in the layout of MLflow's FileStore: a folder for each experiment, in
// it one for each run, each with a meta.yaml; a file of its name for each metric, param and tag.
type mlflowStore struct {
	root string // absolute
}

// mlflowMeta is the name of the file by which MLflow knows an experiment and a run.
const mlflowMeta = "meta.yaml"

// openMLflow makes the folder a store that has MLflow's default experiment, or returns an error if
// it is neither empty nor a store.
func openMLflow(folder string) (mlflowStore, error) {
	root, err := filepath.Abs(folder)
	s := mlflowStore{root}
	if err != nil {
		return s, err
	}
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, dsbo.ConfigErrorf("-mlflow: %w", err)
	}
	known, _ := filepath.Glob(filepath.Join(root, "*", mlflowMeta)) // of a pattern that is right
	if len(entries) > 0 && len(known) == 0 {
		return s, dsbo.ConfigErrorf("-mlflow must be a new folder, or a file store of MLflow; %s is neither",
			folder)
	}
	if len(entries) == 0 {
		err = s.writeExperiment("0", "Default", time.Now())
	}
	return s, err
}

// write writes a run, whose folder is given, to the experiment that has the task's name, and
// returns the path of its folder in the store.
func (s mlflowStore) write(r *report.Run, folder string) (string, error) {
	started, err := time.Parse(time.RFC3339, r.Config.Build.Started)
	if err != nil {
		started = time.Unix(0, 0) // runs of before do not say
	}
	experiment, err := s.experiment(r.Config.Task, started)
	if err != nil {
		return "", err
	}
	from, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(from)))[:32]
	dir := filepath.Join(s.root, experiment, id)
	texts, err := mlflowTexts(r, started.UnixMilli())
	if err == nil { // else the run that the store has stays
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return "", err
	}
	for name, text := range texts {
		if err := writeBelow(filepath.Join(dir, name), text); err != nil {
			return "", err
		}
	}
	artifacts := filepath.Join(dir, "artifacts")
	if err := copyRun(artifacts, runs.Folder(folder)); err != nil {
		return "", err
	}
	status, last := mlflowStatus(r)
	end := started.Add(time.Duration(last * float64(time.Second))).UnixMilli()
	// MLflow leaves out a folder without this file, which therefore comes last.
	return dir, writeYAML(dir, [][2]any{{"artifact_uri", fileURI(artifacts)}, {"deleted_time", nil}, {"end_time", end},
		{"entry_point_name", ""}, {"experiment_id", experiment}, {"lifecycle_stage", "active"}, {"run_id", id},
		{"run_name", r.Name}, {"run_uuid", id}, {"source_name", ""}, {"source_type", 4}, {"source_version", ""},
		{"start_time", started.UnixMilli()}, {"status", status}, {"tags", []string{}}, {"user_id", ""}})
}

// mlflowStatus returns MLflow's number of a run's state, and after how many seconds of iterations
// its last record was.
func mlflowStatus(r *report.Run) (status int, seconds float64) {
	const running, finished, failed, killed = 1, 3, 4, 5
	seconds = r.Records[len(r.Records)-1].Seconds
	switch {
	case r.Summary.State == runs.Absent:
		return running, seconds
	case r.Summary.State == runs.Finished:
		return finished, seconds
	case r.Summary.State == runs.Interrupted:
		return killed, seconds
	}
	return failed, seconds
}

// experiment returns the number of the experiment of a name, which it makes if there is none.
func (s mlflowStore) experiment(name string, at time.Time) (string, error) {
	metas, err := filepath.Glob(filepath.Join(s.root, "*", mlflowMeta))
	if err != nil {
		return "", err
	}
	for _, path := range metas {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(string(text)) {
			if of, is := strings.CutPrefix(line, "name:"); is && strings.Trim(of, " '\"\r\n") == name {
				return filepath.Base(filepath.Dir(path)), nil
			}
		}
	}
	sum := sha256.Sum256([]byte(name))
	id := fmt.Sprint(100_000_000_000_000_000 + uint64(binary.BigEndian.Uint32(sum[:]))) // 18 digits, as MLflow's are
	return id, s.writeExperiment(id, name, at)
}

func (s mlflowStore) writeExperiment(id, name string, at time.Time) error {
	dir := filepath.Join(s.root, id)
	return writeYAML(dir, [][2]any{{"artifact_location", fileURI(dir)}, {"creation_time", at.UnixMilli()},
		{"experiment_id", id}, {"last_update_time", at.UnixMilli()}, {"lifecycle_stage", "active"}, {"name", name}})
}

// mlflowTexts returns the files of a run's metrics, params and tags by their paths in its folder.
// A line of a metric is its time in milliseconds, its value, and its step.
func mlflowTexts(r *report.Run, started int64) (map[string]string, error) {
	texts := map[string]string{
		"tags/mlflow.runName":     r.Name,
		"tags/mlflow.source.name": r.Config.Build.Program + " " + r.Config.Task,
		"tags/mlflow.source.type": "LOCAL",
	}
	settings, _, err := r.Config.Values()
	if err != nil {
		return nil, err
	}
	for _, v := range settings {
		texts["params/"+mlflowName(v.Name)] = fmt.Sprintf("%.6000s", v.This)
	}
	last := r.Records[len(r.Records)-1]
	add := func(name string, value runs.Number, at runs.Record) {
		if value.Known() {
			texts["metrics/"+mlflowName(name)] += fmt.Sprintf("%d %s %d\n", started+int64(1000*at.Seconds),
				strconv.FormatFloat(float64(value), 'g', -1, 64), at.Iteration)
		}
	}
	for _, record := range r.Records {
		values, err := runs.Diff(struct{}{}, record)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			var number runs.Number
			if json.Unmarshal([]byte(v.This), &number) == nil {
				add(v.Name, number, record)
			}
		}
	}
	for _, m := range r.Assessment.Measures {
		add(m.Name, m.Value, last)
	}
	if r.Summary.State == runs.Absent {
		return texts, nil
	}
	texts["tags/mlflow.note.content"] = strings.Join(
		append([]string{r.Summary.Verdict.Sentence}, r.Summary.Verdict.Notes...), "\n\n")
	for _, m := range r.Summary.Models {
		if m.Kept {
			for name, value := range map[string]runs.Number{"phi": m.Phi, "val_loss": m.ValLoss,
				"holdout_loss": m.HoldoutLoss, "test_loss": m.TestLoss, "test_accuracy": m.TestAccuracy} {
				add("kept_"+name, value, last)
			}
		}
	}
	return texts, nil
}

// mlflowName returns a name of letters of ASCII, digits, blanks, "_", "-" and ".", which MLflow
// takes, with others as their numbers, and short enough for a file.
func mlflowName(name string) string {
	var b strings.Builder
	for _, c := range name {
		if c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) || strings.ContainsRune(" _-.", c) {
			b.WriteRune(c)
		} else {
			fmt.Fprintf(&b, "_%04x", c)
		}
	}
	return fmt.Sprintf("%.200s", b.String())
}

// copyRun copies the results of a run folder, without checkpoints and whatever else lies there,
// such as keys.
func copyRun(to string, from runs.Folder) error {
	for _, name := range []string{runs.ConfigFile, runs.MetricsFile, runs.SummaryFile, runs.LambdaFile,
		runs.LambdaTableFile, runs.OmegaFile, runs.AssessmentFile, runs.ModelFile, runs.WeightsFile, runs.ONNXFile,
		runs.ChangesFile, report.PageFile} {
		text, err := os.ReadFile(from.Path(name))
		if err == nil {
			err = writeBelow(filepath.Join(to, name), string(text))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// fileURI returns the address of a file or folder of an absolute path.
func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// writeYAML writes a meta.yaml: values in JSON, which is YAML.
func writeYAML(dir string, fields [][2]any) error {
	var b strings.Builder
	for _, f := range fields {
		value, err := json.Marshal(f[1])
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s: %s\n", f[0], value)
	}
	return writeBelow(filepath.Join(dir, mlflowMeta), b.String())
}

// writeBelow writes a file, and makes the folders above it.
func writeBelow(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}
