package report

import (
	"cmp"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/internal/files"
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

// Write writes report.html, and where there is [Draw] the folder figures, with every figure as
// SVG, to dir, which it makes if need be, and returns the path of the page. An empty title is
// replaced by one of the task and its methods. Files that are there are replaced, each as a whole
// or not at all; the page comes last.
//
// Without runs, or with runs of different tasks, the error matches [dsbo.ErrConfig].
func Write(dir string, runs []*Run, title string) (path string, err error) {
	p, err := newPage(runs, title)
	if err != nil {
		return "", err
	}
	return p.write(dir, PageFile, "page", p.drawings())
}

// write writes figures to dir/figures, where they can be drawn, and last the page, by a template,
// to a file of dir.
func (p *page) write(dir, name, template string, figures []drawing) (path string, err error) {
	html, err := p.html(template)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(dir, "figures")
	if Draw == nil {
		folder, figures = dir, nil
	}
	if err := cmp.Or(files.MkdirAll(folder), saveAll(folder, "", "", figures)); err != nil {
		return "", err
	}
	path = filepath.Join(dir, name)
	return path, files.WriteBytes(path, html)
}

// drawingsOf lists all that is drawn of runs.
func drawingsOf(runs []*Run) ([]drawing, error) {
	gs, err := groups(runs)
	if err != nil {
		return nil, err
	}
	return newSheet(gs, "").drawings(), nil
}

// SaveFigures writes some of the figures that [Write] would write, without the page, to dir, which
// must exist: dir/prefix+name.svg, for the names as in the folder figures of a report, such as
// phi_iterations or lambda; without names all of them. A title comes before each figure's own.
//
// A name that the runs have no figure for is an error that lists those that they have, and matches
// [dsbo.ErrConfig], as do no runs and runs of different tasks.
func SaveFigures(dir, prefix, title string, runs []*Run, names ...string) error {
	all, err := drawingsOf(runs)
	if err != nil || len(names) == 0 {
		return cmp.Or(err, saveAll(dir, prefix, title, all))
	}
	var known []string
	for _, d := range all {
		known = append(known, d.Name)
	}
	var wanted []drawing
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
func FigureOf(runs []*Run, name, file, before string) (drawing, bool) {
	all, err := drawingsOf(runs)
	i := slices.IndexFunc(all, func(d drawing) bool { return d.Name == name })
	if err != nil || i < 0 {
		return drawing{}, false
	}
	return drawing{all[i].Figure, file, before + all[i].Label}, true
}

// saveAll writes drawings, with a title before their own, as many at a time as there
// are processors.
func saveAll(dir, prefix, before string, all []drawing) error {
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
