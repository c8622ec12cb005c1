package dsbo

// Traffic counts the vectors that agents send in exchanges, one to each neighbour; a vector that a
// transport repeats counts once.
type Traffic struct {
	Messages int64 `json:"messages"` // vectors
	Floats   int64 `json:"floats"`   // numbers in them
	Bytes    int64 `json:"bytes"`    // bytes of these numbers, without what a transport adds
}

// Add adds v to t.
func (t *Traffic) Add(v Traffic) {
	t.Messages += v.Messages
	t.Floats += v.Floats
	t.Bytes += v.Bytes
}
