package dsbo

import "reflect"

// OracleAs returns an oracle as one that gives more than every oracle does, of a type such as
// [ValueOracle]. The error, which matches [ErrCapability], names what it does not give.
func OracleAs[O Oracle](o Oracle, what string) (O, error) {
	t, ok := o.(O)
	if !ok {
		return t, Errorf(ErrCapability, "this problem's oracles give no %s (%s is missing)", what, reflect.TypeFor[O]())
	}
	return t, nil
}
