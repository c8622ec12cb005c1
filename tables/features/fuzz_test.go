package features_test

import (
	"errors"
	"testing"

	"dsbo"
	"dsbo/network"
	"dsbo/tables/features"
)

// A liar is what sites find together where one text of site 1 is another one.
type liar struct {
	network.Collective
	round int // of the texts; 0: the first
	text  string
}

func (l *liar) Texts(name string, of func(int) (string, error)) ([]string, error) {
	texts, err := l.Collective.Texts(name, of)
	if l.round == 0 && err == nil {
		texts[1] = l.text
	}
	l.round--
	return texts, err
}

// FuzzSiteTexts: whatever text a site sends, of its columns, its classes or its words, the others
// prepare their tables or return an error of the input.
func FuzzSiteTexts(f *testing.F) {
	f.Add(uint8(0), `{"Rows":true,"Columns":[]}`)
	f.Add(uint8(0), `{"Rows":true,"Sparse":3,"Columns":[{"Name":"a","Kind":"number"}]}`)
	f.Add(uint8(0), `{"Rows":true,"Columns":[{"Name":"a","Kind":"?"},{"Name":"b"},{"Name":"c"},{"Name":"d"},`+
		`{"Name":"colour"},{"Name":"constant"},{"Name":"state","Kind":"time"}]}`)
	f.Add(uint8(1), `["ill","ill","",null]`)
	f.Add(uint8(1), `null`)
	f.Add(uint8(2), `[["a"],[],null]`)
	f.Add(uint8(2), `{}`)
	f.Fuzz(func(t *testing.T, round uint8, text string) {
		for _, kind := range []features.TargetKind{"", features.Class} {
			o := options
			o.Kind = kind
			_, err := prepare(&liar{Collective: alone(t, sites), round: int(round % 3), text: text}, o, 0, 1, 2)
			if err != nil && !errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("round %d, %q: error %v is not dsbo.ErrConfig", round%3, text, err)
			}
		}
	})
}
