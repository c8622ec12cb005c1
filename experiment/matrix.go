package experiment

import "dsbo"

// chooseMatrix returns the matrix of a problem's products, by -curvature. With differential privacy
// it must be the Hessian, the only one with a known bound for the noise. For the Gauss-Newton
// matrix the loss must mark its outputs; all agents have the same model, so checking one suffices.
func (s *Settings) chooseMatrix(p *problem) (m dsbo.CurvatureMatrix, err error) {
	if m = s.Matrix; m == dsbo.Hessian {
		return m, nil
	}
	if s.Privacy != nil {
		return m, dsbo.ConfigErrorf("-curvature must be hessian with differential privacy; it is %v", m)
	}
	if m != dsbo.GaussNewton {
		return m, nil
	}
	one, err := dsbo.Capabilities(p.Oracles[p.local[0]])
	if err == nil && one.GaussNewton == nil {
		err = dsbo.Errorf(dsbo.ErrCapability, "-curvature %v: the lower loss of %T marks no outputs (ad.Outputs), "+
			"by which there would be a Gauss-Newton matrix", m, p.model)
	}
	return m, err
}
