package cli

// Suggest returns ": did you mean PREFIXknown?" with the known word that is nearest to word, and "" if none is near.
func Suggest(prefix, word string, known []string) string {
	best, least := "", (len(word)+4)/3
	for _, k := range known {
		if d := distance(word, k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + prefix + best + "?"
}

// distance returns how many bytes must be inserted, deleted, replaced or swapped with their neighbour to turn a into
// b, where no part is edited twice (optimal string alignment), in time O(len(a) len(b)).
func distance(a, b string) int {
	d := make([][]int, len(a)+1) // d[i][j]: from a[:i] to b[:j]
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			replaced := d[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
