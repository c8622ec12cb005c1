package experiment

import (
	"dsbo/report"
	"dsbo/runs"
)

// writePage writes report.html and its figures about the runs in some folders, and returns the path of the page.
func writePage(dir runs.Folder, title string, folders ...runs.Folder) (string, error) {
	var loaded []*report.Run
	for _, f := range folders {
		run, err := report.Load(string(f))
		if err != nil {
			return "", err
		}
		loaded = append(loaded, run)
	}
	return report.Write(string(dir), loaded, report.Options{Title: title})
}
