package tables

import "fmt"

// A vocabulary gives words their places, in the order in which it meets them.
type vocabulary struct {
	words  []string
	places map[string]int32
}

// wordPlace returns the place of a word, a new one for a new word; false if it would be one more
// than the most.
func (v *vocabulary) wordPlace(word []byte, most int) (int32, bool) {
	place, known := v.places[string(word)]
	if known {
		return place, true
	}
	if len(v.words) >= most {
		return 0, false
	}
	if v.places == nil {
		v.places = map[string]int32{}
	}
	place, text := int32(len(v.words)), string(word)
	v.places[text] = place
	v.words = append(v.words, text)
	return place, true
}

// wordLimitText returns the fault of a column with one word too many.
func wordLimitText(most int, word string) string {
	return fmt.Sprintf(
		"a column of words must have at most %d distinct ones; %.40q is one more: leave out a column that names "+
			"single rows", most, word)
}
