package report

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/internal/atomicfile"
)

// Options says how a report is written. The zero value is a useful one.
type Options struct {
	Title string // of the page; "": the task and its methods
}

// Write writes report.html and the folder figures, with every figure as SVG and PNG, to dir, which
// it makes if need be, and returns the path of the page. Files that are there are replaced, each as
// a whole or not at all; the page comes last.
//
// Without runs, or with runs of different tasks, the error matches [dsbo.ErrConfig].
func Write(dir string, runs []*Run, opts Options) (path string, err error) {
	html, ps, pictures, err := render(runs, opts)
	if err != nil {
		return "", err
	}
	figures := filepath.Join(dir, "figures")
	if err := os.MkdirAll(figures, 0o755); err != nil {
		return "", err
	}
	if err := save(figures, "", drawings(ps, pictures)); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "report.html")
	return path, atomicfile.WriteBytes(path, html)
}

// render returns the page and what is drawn on it.
func render(runs []*Run, opts Options) (html []byte, ps []panel, pictures []*Picture, err error) {
	gs, err := grouped(runs)
	if err != nil {
		return nil, nil, nil, err
	}
	ps, pictures = panels(gs), lambdas(gs)
	p, err := newPage(gs)
	if err != nil {
		return nil, nil, nil, err
	}
	if opts.Title != "" {
		p.Title = opts.Title
	}
	if err := p.draw(ps, pictures); err != nil {
		return nil, nil, nil, err
	}
	html, err = p.html()
	return html, ps, pictures, err
}

// grouped puts runs together; without any there is nothing to show.
func grouped(runs []*Run) ([]group, error) {
	if len(runs) == 0 {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "a report must have at least one run")
	}
	return groups(runs)
}

// SaveFigures writes some of the figures that [Write] would write, without the page, to dir, which must
// exist: dir/prefix+name.svg and .png, for the names as in the folder figures of a report, such as
// phi_iterations or lambda; without names all of them. With a title in opts, it comes before each figure's own.
//
// A name that the runs have no figure for is an error that lists those that they have, and matches
// [dsbo.ErrConfig], as do no runs and runs of different tasks.
func SaveFigures(dir, prefix string, runs []*Run, opts Options, names ...string) error {
	gs, err := grouped(runs)
	if err != nil {
		return err
	}
	ps, pictures := panels(gs), lambdas(gs)
	all := drawings(ps, pictures)
	if opts.Title != "" {
		for i, d := range all {
			all[i].Drawing = d.titled(opts.Title + ": " + d.title())
		}
	}
	there := make([]string, len(all))
	for i, d := range all {
		there[i] = d.name
	}
	for _, name := range names {
		if !slices.Contains(there, name) {
			return dsbo.Errorf(dsbo.ErrConfig, "the runs have no figure %q: it must be one of %s", name, strings.Join(there, ", "))
		}
	}
	return save(dir, prefix, slices.DeleteFunc(all, func(d namedDrawing) bool { return len(names) > 0 && !slices.Contains(names, d.name) }))
}

// A namedDrawing is a drawing with the name of its files.
type namedDrawing struct {
	Drawing
	name string
}

// drawings lists all that is drawn, in the order of the page.
func drawings(ps []panel, pictures []*Picture) []namedDrawing {
	var all []namedDrawing
	for _, p := range ps {
		for _, a := range axes() {
			if f := p.figures[a.name]; f != nil {
				all = append(all, namedDrawing{f, p.name + "_" + a.name})
			}
		}
	}
	for i, p := range pictures {
		name := "lambda"
		if len(pictures) > 1 {
			name = fmt.Sprintf("lambda_%d", i+1)
		}
		all = append(all, namedDrawing{p, name})
	}
	return all
}

// save writes figures, as many at a time as there are processors.
func save(dir, prefix string, all []namedDrawing) error {
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, d := range all {
		work.Go(func() error { return Save(d.Drawing, dir, prefix+d.name) })
	}
	return work.Wait()
}

// imageSide is that of MNIST: hyperparameters that are one for each pixel of such an image have a picture.
const imageSide = 28

// lambdas returns the pictures of the runs that have such hyperparameters.
func lambdas(gs []group) []*Picture {
	var ps []*Picture
	for _, g := range gs {
		for _, r := range g.runs {
			p := &Picture{Title: g.label, Label: "λ of each pixel", Side: imageSide, Cells: r.Lambda}
			if len(g.runs) > 1 {
				p.Title += ", " + fmt.Sprintf("seed %d", r.Config.Seed)
			}
			if p.Validate() == nil {
				ps = append(ps, p)
			}
		}
	}
	return ps
}
