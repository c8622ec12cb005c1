package strictjson_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"dsbo/internal/strictjson"
)

func Example() {
	var n int
	fields := []strictjson.Field{{Name: "agents", Must: "a whole number", Set: func(raw json.RawMessage) error { return json.Unmarshal(raw, &n) }}}
	fmt.Println(strictjson.Object([]byte(`{"agents": 8}`), `"agents"`, fields), n)
	fmt.Println(strictjson.Object([]byte(`{"agents": "eight"}`), `"agents"`, fields))
	// Output:
	// <nil> 8
	// field "agents" must be a whole number; it is of type string
}

func TestObject(t *testing.T) {
	fields := []strictjson.Field{
		{Name: "a", Must: "a number", Set: func(raw json.RawMessage) error { return json.Unmarshal(raw, new(float64)) }},
		{Name: "b", Must: "no null", Set: func(json.RawMessage) error { return strictjson.ErrNull }},
	}
	for text, want := range map[string]string{
		``:                    `it must be a JSON object {...}`,
		`[]`:                  `it must be a JSON object {...}`,
		`{"a": 1, "a": 2}`:    `field "a" must be given once; it is given twice`,
		`{"A": 1}`:            `field "A" is not known; it must be a or b`,
		`{"a": null}`:         `field "a" must be a number; it is null`,
		`{"b": [null]}`:       `field "b" must be no null; it is null`,
		`{"a": true}`:         `field "a" must be a number; it is of type bool`,
		`{"a": 1`:             `at byte 7: the file ends early`,
		`{"a": 1} {"a": 1}`:   `it must be one object alone; something follows`,
		`{"a": 1}` + "\n\t  ": ``,
	} {
		got := ""
		if err := strictjson.Object([]byte(text), "a or b", fields); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: error %q; it must be %q", text, got, want)
		}
	}
}
