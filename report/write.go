package report

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	if err := save(figures, ps, pictures); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "report.html")
	return path, atomicfile.WriteBytes(path, html)
}

// render returns the page and what is drawn on it.
func render(runs []*Run, opts Options) (html []byte, ps []panel, pictures []*Picture, err error) {
	if len(runs) == 0 {
		return nil, nil, nil, fmt.Errorf("%w: a report of no runs: want at least one", dsbo.ErrConfig)
	}
	gs, err := groups(runs)
	if err != nil {
		return nil, nil, nil, err
	}
	ps, pictures = panels(gs), lambdas(gs)
	p := newPage(gs)
	if opts.Title != "" {
		p.Title = opts.Title
	}
	if err := p.draw(ps, pictures); err != nil {
		return nil, nil, nil, err
	}
	html, err = p.html()
	return html, ps, pictures, err
}

// save writes all figures, as many at a time as there are processors.
func save(dir string, ps []panel, pictures []*Picture) error {
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, p := range ps {
		for axis, f := range p.figures {
			work.Go(func() error { return f.Save(dir, p.name+"_"+axis) })
		}
	}
	for i, p := range pictures {
		name := "lambda"
		if len(pictures) > 1 {
			name = fmt.Sprintf("lambda_%d", i+1)
		}
		work.Go(func() error { return p.Save(dir, name) })
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
				p.Title += ", " + strings.TrimSpace("seed "+r.Config.Get("seed"))
			}
			if p.Validate() == nil {
				ps = append(ps, p)
			}
		}
	}
	return ps
}
