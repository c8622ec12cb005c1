package experiment

// Check reports the first setting that cannot work whatever the data and the folder, the same that Run would find. Errors match
// dsbo.ErrConfig.
func (j *Job) Check() error {
	if _, err := j.Settings.Resolve(j.Presets, j.given); err != nil {
		return err
	}
	_, err := j.Settings.network(j.given)
	return err
}
