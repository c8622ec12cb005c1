package report

import (
	"dsbo/runs"
)

// plotData is what the page's script draws: all numbers of the figures, in basic units.
type plotData struct {
	Axes    []axisData   `json:"axes"`
	Figures []figureData `json:"figures"`
}

type axisData struct {
	Name  string  `json:"name"`
	Title string  `json:"title"`
	Label string  `json:"label"`
	Size  float64 `json:"size"` // of the unit in the label
	Log   bool    `json:"log"`
	Count bool    `json:"count"`
}

type figureData struct {
	Name  string     `json:"name"`
	Title string     `json:"title"`
	Views []viewData `json:"views"`
}

type viewData struct {
	Name      string      `json:"name"`
	Title     string      `json:"title"`
	Label     string      `json:"label"`
	Log       bool        `json:"log"`
	SkipStart bool        `json:"skip_start"`
	Curves    []curveData `json:"curves"`
	Levels    []levelData `json:"levels"`
}

type curveData struct {
	Name string `json:"name"`
	lookData
	X    [][]float64   `json:"x"` // for each axis
	Y    []runs.Number `json:"y"`
	Low  []runs.Number `json:"low,omitempty"`
	High []runs.Number `json:"high,omitempty"`
}

type levelData struct {
	Name string    `json:"name"`
	Y    float64   `json:"y"`
	Dash []float64 `json:"dash"`
}

// Data returns what the page's script draws.
func (s sheet) Data() (d plotData) {
	for _, a := range s.Axes {
		d.Axes = append(d.Axes, axisData{a.Name, a.Title, a.Label, a.Unit.size, a.Scale == Log, a.count})
	}
	for _, p := range s.Panels {
		f := figureData{Name: p.Name, Title: p.Title}
		for _, v := range p.Views {
			_, y := v.against(s.Axes[0]).extents(0)
			w := viewData{Name: v.Name, Title: v.Title, Label: v.figure.YLabel, Log: y.log, SkipStart: v.skipStart}
			for _, c := range v.curves {
				one := curveData{Name: c.name, lookData: *lookOf(c.look), Y: numbers(c.y), Low: numbers(c.low), High: numbers(c.high)}
				for _, a := range s.Axes {
					one.X = append(one.X, c.x[a.number])
				}
				w.Curves = append(w.Curves, one)
			}
			for i, l := range v.figure.Levels {
				w.Levels = append(w.Levels, levelData{l.Name, l.Y, lengths(greyLine(i).Dashes)})
			}
			f.Views = append(f.Views, w)
		}
		d.Figures = append(d.Figures, f)
	}
	return d
}

// numbers returns numbers that JSON can hold.
func numbers(vs []float64) (ns []runs.Number) {
	for _, v := range vs {
		ns = append(ns, runs.Number(v))
	}
	return ns
}
