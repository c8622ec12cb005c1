package features

import (
	"cmp"
	"math"

	"dsbo"
	"dsbo/tables"
)

// sumWeights finds the sum of the weights of all training rows, of all validation rows and of all
// test rows, and with Balance the factor of each class.
func (p *preparation) sumWeights() error {
	if err := p.checkWeights(); err != nil {
		return err
	}
	classes := max(1, len(p.recipe.Target.Classes))
	unit := 1.0 // of the weights' sums
	if p.Weight != "" {
		found, err := p.moments([]int{p.columnIndex(p.Weight)})
		if err != nil {
			return err
		}
		unit = found[0].scale
	}
	sum := make([]float64, int(sets)*classes)
	err := p.Collective.Sum(sum, func(i int, part []float64) error {
		of, err := p.classesOf(i)
		for row, set := range p.parts[i].of {
			if err == nil {
				part[int(set)*classes+int(of[row])] += p.weight(i, row) / unit
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if p.Balance {
		p.setBalance(sum[:classes])
	}
	for set := range p.total {
		for k, w := range sum[set*classes:][:classes] {
			p.total[set] += float64(w * unit * p.factor(k))
		}
		if p.total[set] == 0 && p.rows[set] > 0 && set != int(testing) {
			return dsbo.ConfigErrorf("column %s, the weights, must be positive in some %s rows; all are 0",
				p.Weight, setNames[set])
		}
	}
	return nil
}

// setBalance gives all classes with training rows the same weight together.
func (p *preparation) setBalance(ofClass []float64) {
	all, present := 0.0, 0.0
	for _, w := range ofClass {
		if all += w; w > 0 {
			present++
		}
	}
	p.balance = make([]float64, len(ofClass))
	for k, w := range ofClass {
		if p.balance[k] = 1; w > 0 {
			p.balance[k] = all / (present * w)
		}
	}
}

// factor is what weights of rows of a class are multiplied by.
func (p *preparation) factor(class int) float64 {
	if p.balance == nil {
		return 1
	}
	return p.balance[class]
}

// checkWeights checks the weights of the rows that are here.
func (p *preparation) checkWeights() error {
	if p.Balance && p.recipe.Target.Kind != Class {
		return dsbo.ConfigErrorf("-balance is for classes; the target %s is a %s", p.Target,
			p.recipe.Target.Kind)
	}
	if p.Weight == "" {
		return nil
	}
	for _, i := range p.localSites() {
		c := p.column(i, p.Weight)
		for row := range p.Tables[i].Rows() {
			if c.Kind == tables.Word {
				return p.failAt(i, row, c.Name, "a weight must be a number from 0; the column holds words")
			}
			if v := c.Number(row); v != v {
				return p.failAt(i, row, c.Name, "a weight must be a number from 0; it is missing")
			} else if v < 0 {
				return p.failAt(i, row, c.Name, "a weight must be a number from 0; it is %s", numberText(v))
			}
		}
	}
	return nil
}

// weight returns the weight of a row of site i as its file says it.
func (p *preparation) weight(i, row int) float64 {
	if p.Weight == "" {
		return 1
	}
	return p.column(i, p.Weight).Number(row)
}

// classesOf returns the class of each row of site i, 0 where there are no classes.
func (p *preparation) classesOf(i int) ([]uint8, error) {
	rows := p.Tables[i].Rows()
	if p.recipe.Target.Kind != Class {
		return make([]uint8, rows), nil
	}
	return classPlaces(p.Tables[i], p.column(i, p.Target), p.recipe.Target.Classes)
}

// exampleWeights returns the weights of the examples in some sets of site i, one set after the
// other, nil where all are 1: so that the mean over the sites of the mean over a site's examples is
// the mean over these rows of all sites.
func (p *preparation) exampleWeights(i int, of ...set) ([]float32, error) {
	if p.plain {
		return nil, nil
	}
	classes, err := p.classesOf(i)
	if err != nil {
		return nil, err
	}
	part := p.parts[i]
	size, total := 0, 0.0
	for _, one := range of {
		size, total = size+part.sizes[one], total+p.total[one]
	}
	unit := float64(cmp.Or(p.Start, len(p.Tables))) * float64(size) / total
	var list []float32
	all := true // are 1
	for _, one := range of {
		for row, set := range part.of {
			if set != one {
				continue
			}
			w := p.weight(i, row) * p.factor(int(classes[row])) * unit
			if !(w <= math.MaxFloat32) {
				return nil, p.failAt(i, row, p.Weight,
					"the weight must be of the size of the others; it is %g of their mean", w)
			}
			list = append(list, float32(w))
			all = all && list[len(list)-1] == 1
		}
	}
	if all {
		return nil, nil
	}
	return list, nil
}
