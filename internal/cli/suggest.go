package cli

// Suggest returns ": did you mean PREFIXknown?" with the known word that is nearest to word, and ""
// if none is near.
func Suggest(prefix, word string, known []string) string {
	for edits := range min((len(word)+4)/3, 5) {
		for _, k := range known {
			if withinEdits(edits, word, k) {
				return ": did you mean " + prefix + k + "?"
			}
		}
	}
	return ""
}

// withinEdits reports whether n bytes inserted, deleted, replaced or swapped with their neighbour
// turn a into b, where no byte is edited twice. It takes time O(4^edits (len(a) + len(b))).
func withinEdits(edits int, a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case a == "" || b == "":
		return len(a)+len(b) <= edits
	case edits == 0:
		return false
	}
	swapped := len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0]
	return withinEdits(edits-1, a[1:], b[1:]) || withinEdits(edits-1, a[1:], b) || withinEdits(edits-1, a, b[1:]) ||
		swapped && withinEdits(edits-1, a[2:], b[2:])
}
