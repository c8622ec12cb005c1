package experiment

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// parse reads the command line. With -resume, omitted flags take the resumed run's values. It sets
// Settings.Flags, the list in config.json from which the command line can be repeated, and the
// task's flags and their defaults, which checkpoints compare. -resume and -force exclude each
// other.
func (j *Job) parse(f *cli.Flags, args []string, stdout io.Writer) error {
	s := j.Settings
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if s.Resume && s.Force {
		return dsbo.ConfigErrorf(
			"-resume and -force are mutually exclusive: one goes on with the run in the folder, the other replaces it")
	}
	if s.Resume {
		if err := s.parseResumed(f, args, stdout); err != nil {
			return err
		}
	}
	if err := j.choosePreset(f); err != nil {
		return err
	}
	for name := range s.taskFlags {
		fl := f.Lookup(name)
		value := fl.Value.String()
		s.taskFlags[name] = value
		// A file or folder may have moved since a checkpoint, which compares its content instead.
		if what, _ := flag.UnquoteUsage(fl); what == "file" || what == "folder" {
			continue
		}
		if s.shapingFlags[name] = value; value == fl.DefValue {
			s.defaults["flags."+name], s.defaults["task."+name] = value, value
		}
	}
	f.Visit(func(fl *flag.Flag) {
		switch {
		case LocalOnly(fl.Name):
		case fl.Name == "set":
			for _, name := range slices.Sorted(maps.Keys(s.Set)) {
				s.Flags = append(s.Flags, fmt.Sprintf("-set=%s=%s", name, s.Set[name]))
			}
		default:
			s.Flags = append(s.Flags, "-"+fl.Name+"="+fl.Value.String())
		}
	})
	return nil
}

// parseResumed parses the flags of the run to resume and then args again, so that flags given now
// take precedence. It chooses the run's folder, which must have a run.
func (s *Settings) parseResumed(f *cli.Flags, args []string, stdout io.Writer) error {
	folder, mode, err := s.runFolder()
	if err != nil {
		return err
	}
	if err := folder.Check(mode); err != nil {
		return err
	}
	c, err := folder.ReadConfig()
	if err != nil {
		return fmt.Errorf("-resume: %w", err)
	}
	s.resumedFlags = c.Flags
	s.keepDefaults(f, folder)
	for _, all := range [][]string{c.Flags, args} {
		if err := f.Parse(all, stdout); err != nil {
			return err
		}
	}
	s.Out = string(folder) // not before: -out may be given, also as "", which stands for a folder of results
	return nil
}

// keepDefaults sets the task's flags, and K, to the values in a run's checkpoint, since this
// program may have other defaults than the one that began the run. A value that cannot be set is
// skipped here; the later comparison of settings refuses the resume and names it.
func (s *Settings) keepDefaults(f *cli.Flags, folder runs.Folder) {
	var began struct {
		Flags map[string]string `json:"flags"`
	}
	iterations, settings := train.Began(folder)
	if iterations == 0 || json.Unmarshal(settings, &began) != nil {
		return
	}
	s.resumedK = iterations
	for name, value := range began.Flags {
		if fl := f.Lookup(name); fl != nil && fl.Value.String() != value {
			_ = fl.Value.Set(value)
		}
	}
}

// CheckOverMachines returns an error for the first setting that cannot work in a run with agents on
// other machines, whatever the data and the folder. A nil graph means the graph of the flags.
// Errors match dsbo.ErrConfig.
func (j *Job) CheckOverMachines(g *network.Graph) error {
	_, _, err := j.resolve(g)
	return err
}

// localOnlyFlags are flags of one process of a run, which a resumed run and the agents of a cluster
// file do not take over.
var localOnlyFlags = []string{"out", "resume", "force", "report", "quiet", "transport", "explain-privacy",
	"explain-model", "check", "membership", "attached"}

// LocalOnly reports whether a flag is one of a single process: not a setting of the run.
func LocalOnly(flag string) bool { return slices.Contains(localOnlyFlags, flag) }

// HasFlag reports whether a flag is one of a task's own, and thereby of its problem. The task's
// flags have their defaults after it.
func HasFlag(t Task, name string) bool {
	f := flag.NewFlagSet(t.Name, flag.ContinueOnError)
	t.Flags(f)
	return f.Lookup(name) != nil
}
