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
	"dsbo/internal/cli"
	"dsbo/internal/files"
	"dsbo/runs"
	"dsbo/runs/report"
)

// report runs the verb report, which writes the page of one or several runs: of one run into its
// folder, of several into the folder report, or into -out. With -figures it writes only the
// figures, or those that -only names, as files into an existing folder. Runs must have different
// folders, by which the page names them.
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
	lock, err := runs.Folder(folder).Lock() // held by a run under way, which writes its page itself
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
	return cli.Printf(f.stdout, "%s\n", path)
}
