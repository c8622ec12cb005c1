package dsbo

import (
	"reflect"
	"strings"
)

// OracleAs returns an oracle as one that gives more than every oracle does, of a type such as [ValueOracle]. The error, which matches
// [ErrCapability], names what it does not give.
func OracleAs[O OracleIn[T], T Float](o OracleIn[T], what string) (O, error) {
	t, ok := o.(O)
	if !ok {
		name, _, _ := strings.Cut(reflect.TypeFor[O]().String(), "In[") // not what the name stands for
		return t, Errorf(ErrCapability, "this problem's oracles give no %s (%s is missing)", what, name)
	}
	return t, nil
}
