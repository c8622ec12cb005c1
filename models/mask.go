package models

import (
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// checkMasks returns an error for masks with taken or empty names, no columns, or a share to keep
// outside of (0, 1], also NaN. Normal masks keep nothing, so theirs must be 0.
func checkMasks(masks []Mask, columns []data.Column) error {
	for k, m := range masks {
		taken := slices.ContainsFunc(masks[:k], func(o Mask) bool { return o.Name == m.Name }) ||
			slices.ContainsFunc(columns, func(c data.Column) bool { return c.Name == columnPrefix+m.Name })
		switch {
		case m.Name == "" || taken:
			return dsbo.ConfigErrorf(
				"names of masks must be distinct, not empty, and no names of columns; that of mask %d is %q", k, m.Name)
		case m.Normal && (m.Cols < 1 || m.Keep != 0):
			return dsbo.ConfigErrorf(
				"normal mask %q must have at least 1 column and no share to keep; they are %d and %g", m.Name, m.Cols,
				m.Keep)
		case !m.Normal && (m.Cols < 1 || !(m.Keep > 0 && m.Keep <= 1)):
			return dsbo.ConfigErrorf(
				"mask %q must have at least 1 column and keep a share in (0, 1]; they are %d and %g",
				m.Name, m.Cols, m.Keep)
		}
	}
	return nil
}

// bind sets program p's inputs to rows idx (nil: all) and the masks of the draw name. If p already
// has the masks of this draw they are not bound again, which would discard values that p has
// computed from them.
func (s *side) bind(p *ad.Program, name dsbo.Sample, idx []int, rows int) error {
	if err := s.ex.bind(p, idx); err != nil || len(s.ex.masks) == 0 {
		return err
	}
	if !name.Set.IsDraw() { // masks of all examples are the same whatever K and T are
		name = dsbo.Sample{Set: dsbo.Whole}
	}
	if bound, ok := s.masked[p]; ok && bound == name {
		return nil
	}
	delete(s.masked, p) // an error below leaves p with masks of two draws
	for k, m := range s.ex.masks {
		table, err := s.draw.Mask(rows, m.Cols, name, k, m.Keep)
		if err == nil && s.cfg.Float32 {
			table, err = table.Float32()
		}
		if err == nil {
			err = p.Bind(columnPrefix+m.Name, table, nil)
		}
		if err != nil {
			return err
		}
	}
	s.masked[p] = name
	return nil
}
