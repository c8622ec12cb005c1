package experiment

import (
	"strings"

	"dsbo"
)

// CheckOverMachines reports the first setting that cannot work in a run with agents on other machines, whatever the data and
// the folder. Errors match dsbo.ErrConfig.
func (j *Job) CheckOverMachines() error {
	if _, _, err := j.runs(false); err != nil {
		return err
	}
	if _, err := j.Settings.resolve(j.presets, j.given); err != nil {
		return err
	}
	_, err := j.Settings.network(j.given)
	return err
}

// runs returns the runs of [Several], nil if the job is one run. Where several cannot be, as the agents of a run are in more than one
// process, it is an error that the command line asks for them.
func (j *Job) runs(can bool) (title string, parts []Part, err error) {
	t, ok := j.Task.(Several)
	if !ok {
		return "", nil, nil
	}
	title, parts = t.Runs()
	if len(parts) < 2 {
		return "", nil, nil
	}
	if can {
		return title, parts, nil
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(parts[0].Flag, "-"), "=")
	if j.given[name] {
		return "", nil, dsbo.Errorf(dsbo.ErrConfig, "-%s must ask for one run where the agents are in several processes; it asks for %d", name, len(parts))
	}
	return "", nil, nil
}
