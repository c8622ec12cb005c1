package experiment

import (
	"encoding/json"
	"fmt"
	"strings"
)

// assignments are parameters by the names that they have in JSON.
type assignments map[string]json.RawMessage

// String implements flag.Value; the help does not show it, since the usage describes the default.
func (a assignments) String() string { return "" }

// Set reads name=value.
func (a assignments) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return fmt.Errorf("%q must be name=value", text)
	}
	if !json.Valid([]byte(value)) {
		quoted, _ := json.Marshal(value) // which never fails of a string
		value = string(quoted)
	}
	a[name] = json.RawMessage(value)
	return nil
}
