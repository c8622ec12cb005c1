package files_test

import (
	"fmt"
	"testing"

	"dsbo/internal/files"
)

type file struct {
	Agents int       `json:"agents" must:"a whole number"`
	W      []float64 `json:"W" must:"numbers"`
}

func Example() {
	f := file{W: []float64{1}}
	fmt.Println(files.StrictJSON([]byte(`{"agents": 8}`), &f), f)
	fmt.Println(files.StrictJSON([]byte(`{"agents": "eight"}`), &f))
	// Output:
	// <nil> {8 [1]}
	// field "agents" must be a whole number; it is of type string
}

func TestObject(t *testing.T) {
	for text, want := range map[string]string{
		``:                            `it must be a JSON object {...}`,
		`[]`:                          `it must be a JSON object {...}`,
		"\ufeff{}":                    `it must be UTF-8 without a byte order mark, with which it begins`,
		`{"agents": 1, "agents": 2}`:  `field "agents" must be given once; it is given twice`,
		`{"Agents": 1}`:               `field "Agents" is not known; it must be one of agents, W`,
		`{"agents": null}`:            `field "agents" must be a whole number; it is null`,
		`{"agents": -1.5}`:            `field "agents" must be a whole number; it is -1.5`,
		`{"W": [1, null]}`:            `field "W" must be numbers; it holds null`,
		`{"W": true}`:                 `field "W" must be numbers; it is of type bool`,
		`{"agents": 1`:                `at byte 12: the file ends early`,
		`{"agents": 1,}`:              `at byte 13: invalid character '}' looking for beginning of object key string`,
		`{"agents": 1} {"agents": 1}`: `it must be one object alone; something follows`,
		`{"agents": 1}` + "\n\t  ":    ``,
	} {
		got := ""
		if err := files.StrictJSON([]byte(text), &file{}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: error %q; it must be %q", text, got, want)
		}
	}
}
