package strictjson_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"dsbo/internal/strictjson"
)

func Example() {
	var n int
	fields := []strictjson.Field{{Name: "agents", Want: "a whole number", Set: func(raw json.RawMessage) error { return json.Unmarshal(raw, &n) }}}
	fmt.Println(strictjson.Object([]byte(`{"agents": 8}`), `"agents"`, fields), n)
	fmt.Println(strictjson.Object([]byte(`{"agents": "eight"}`), `"agents"`, fields))
	// Output:
	// <nil> 8
	// field "agents": found string, want a whole number
}

func TestObject(t *testing.T) {
	fields := []strictjson.Field{
		{Name: "a", Want: "a number", Set: func(raw json.RawMessage) error { return json.Unmarshal(raw, new(float64)) }},
		{Name: "b", Want: "no null", Set: func(json.RawMessage) error { return strictjson.ErrNull }},
	}
	for text, want := range map[string]string{
		``:                    `want a JSON object {...}`,
		`[]`:                  `want a JSON object {...}`,
		`{"a": 1, "a": 2}`:    `field "a" is given twice, want it once`,
		`{"A": 1}`:            `unknown field "A", want a or b`,
		`{"a": null}`:         `field "a": found null, want a number`,
		`{"b": [null]}`:       `field "b": found null, want no null`,
		`{"a": true}`:         `field "a": found bool, want a number`,
		`{"a": 1`:             `at byte 7: the file ends early`,
		`{"a": 1} {"a": 1}`:   `something follows the object, want one object alone`,
		`{"a": 1}` + "\n\t  ": ``,
	} {
		got := ""
		if err := strictjson.Object([]byte(text), "a or b", fields); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
