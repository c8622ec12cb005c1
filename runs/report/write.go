package report

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/internal/disk"
)

// WriteRun writes the page of the one run in a folder to that folder, as [Write] does, and returns
// its path.
func WriteRun(dir string) (path string, err error) {
	run, err := Load(dir)
	if err != nil {
		return "", err
	}
	return Write(dir, []*Run{run}, "")
}

// PageFile is the name of the page in a run folder.
const PageFile = "report.html"

// Write writes report.html and the folder figures, with every figure as SVG, to dir, which
// it makes if need be, and returns the path of the page. An empty title is replaced by one of the
// task and its methods. Files that are there are replaced, each as a whole or not at all; the page
// comes last.
//
// Without runs, or with runs of different tasks, the error matches [dsbo.ErrConfig].
func Write(dir string, runs []*Run, title string) (path string, err error) {
	p, err := newPage(runs, title)
	if err != nil {
		return "", err
	}
	html, err := p.html("page")
	if err != nil {
		return "", err
	}
	figures := filepath.Join(dir, "figures")
	if err := disk.MkdirAll(figures); err != nil {
		return "", err
	}
	if err := saveAll(figures, "", "", p.drawings()); err != nil {
		return "", err
	}
	path = filepath.Join(dir, PageFile)
	return path, disk.WriteBytes(path, html)
}

// SaveFigures writes some of the figures that [Write] would write, without the page, to dir, which
// must exist: dir/prefix+name.svg, for the names as in the folder figures of a report, such as
// phi_iterations or lambda; without names all of them. A title comes before each figure's own.
//
// A name that the runs have no figure for is an error that lists those that they have, and matches
// [dsbo.ErrConfig], as do no runs and runs of different tasks.
func SaveFigures(dir, prefix, title string, runs []*Run, names ...string) error {
	gs, err := groups(runs)
	if err != nil {
		return err
	}
	all := newSheet(gs, "").drawings()
	if len(names) == 0 {
		return saveAll(dir, prefix, title, all)
	}
	var known []string
	for _, d := range all {
		known = append(known, d.Name)
	}
	var wanted []Drawing
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return dsbo.ConfigErrorf("the runs have no figure %q: it must be one of %s",
				name, strings.Join(known, ", "))
		}
		wanted = append(wanted, all[i])
	}
	return saveAll(dir, prefix, title, wanted)
}

// FigureOf returns the figure that [SaveFigures] would write under a name, for another file, with
// a text before its label. It is false if the runs have none.
func FigureOf(runs []*Run, name, file, before string) (Drawing, bool) {
	gs, err := groups(runs)
	if err != nil {
		return Drawing{}, false
	}
	for _, d := range newSheet(gs, "").drawings() {
		if d.Name == name {
			return Drawing{d.Figure, file, before + d.Label}, true
		}
	}
	return Drawing{}, false
}

// saveAll writes drawings, with a title before their own, as many at a time as there
// are processors.
func saveAll(dir, prefix, before string, all []Drawing) error {
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, d := range all {
		f := *d.Figure
		if before != "" {
			f.Title = before + ": " + f.Title
		}
		work.Go(func() error { return Save(&f, dir, prefix+d.Name) })
	}
	return work.Wait()
}
