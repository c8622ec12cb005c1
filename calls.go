package dsbo

// Calls counts what one agent asks its oracle.
type Calls struct {
	UpperGrad int `json:"upper_grad"` // gradients of f; ∇_x and ∇_y at one point and draw are one call
	LowerGrad int `json:"lower_grad"` // gradients of g, likewise
	HVP       int `json:"hvp"`
	JVP       int `json:"jvp"`
	Hessian   int `json:"hessian"`
	Jacobian  int `json:"jacobian"`
	Diagonal  int `json:"diagonal,omitzero"` // diagonals of the Hessian of g
	Value     int `json:"value,omitzero"`    // values of f
}

// Total returns the number of calls of all kinds. A whole matrix is one call.
func (c Calls) Total() int {
	return c.UpperGrad + c.LowerGrad + c.HVP + c.JVP + c.Hessian + c.Jacobian + c.Diagonal + c.Value
}
