package experiment

import (
	"dsbo/report"
	"dsbo/train"
)

// page writes report.html and its figures about the runs in some folders, and returns the path of the page.
func page(dir train.Folder, title string, folders ...train.Folder) (string, error) {
	var runs []*report.Run
	for _, f := range folders {
		run, err := report.Load(string(f))
		if err != nil {
			return "", err
		}
		runs = append(runs, run)
	}
	return report.Write(string(dir), runs, report.Options{Title: title})
}
