package tables

import "fmt"

// mostWords is the most distinct words in a column. More are an error: the column has names or
// numbers of single rows, and nothing can be learned from it.
const mostWords = 10000

// A vocabulary gives words their places, in the order in which it meets them.
type vocabulary struct {
	words  []string
	places map[string]int32
}

// wordPlace returns the place of a word, a new one for a new word; false if it would be one more
// than mostWords.
func (v *vocabulary) wordPlace(word []byte) (int32, bool) {
	place, known := v.places[string(word)]
	if known || len(v.words) >= mostWords {
		return place, known
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
func wordLimitText(word string) string {
	return fmt.Sprintf(
		"a column of words must have at most %d distinct ones; %.40q is one more: leave out a column that names "+
			"single rows", mostWords, word)
}
