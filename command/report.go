package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dsbo"
	_ "dsbo/experiment/compare" // for all verbs
	"dsbo/internal/files"
	"dsbo/runs"
	"dsbo/runs/report"
)

// report is the verb report: it writes the page and the figures of runs, or with -figures the
// figures alone, each as a file, into a folder that is there; -only names some of them. The page of
// one run is in its folder, of several in report, unless -out names another. Runs must differ, as
// they are known by their folders.
func (p *program) report(f *call) error {
	var out, title, figures, only, prefix string
	f.Vars(map[string]any{"out": &out, "title": &title, "figures": &figures, "only": &only, "prefix": &prefix})
	if err := f.parseOperands(); err != nil {
		return err
	}
	switch {
	case f.NArg() == 0:
		return dsbo.ConfigErrorf("a run folder is required (-h explains the use)")
	case figures == "" && (only != "" || prefix != ""):
		return dsbo.ConfigErrorf("-only and -prefix need -figures")
	case figures != "" && out != "":
		return dsbo.ConfigErrorf("-out and -figures are mutually exclusive")
	}
	if s, err := os.Stat(figures); figures != "" && (err != nil || !s.IsDir()) {
		return dsbo.ConfigErrorf("-figures must be an existing folder; it is %s", figures)
	}
	var all []*report.Run
	seen := map[string]bool{}
	for _, folder := range f.Args() {
		clean := filepath.Clean(folder)
		if seen[clean] {
			return dsbo.ConfigErrorf("run folders must differ; %s is there twice", folder)
		}
		seen[clean] = true
		r, err := report.Load(folder)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	if figures != "" {
		var names []string
		if only != "" {
			names = strings.Split(only, ",")
		}
		return report.SaveFigures(figures, prefix, title, all, names...)
	}
	folder := cmp.Or(out, "report")
	if out == "" && f.NArg() == 1 {
		folder = f.Arg(0)
	}
	lock, err := runs.Folder(folder).Lock() // a run that is still going writes its page itself
	if errors.Is(err, files.ErrLocked) {
		err = fmt.Errorf("%w -out puts the page elsewhere", err)
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	path, err := report.Write(folder, all, title)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f.stdout, path)
	return err
}
