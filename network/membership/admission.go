package membership

// An Admission lets an agent that is not in the cluster file join a running run: an authority has
// signed its number, its neighbours, and the run.
type Admission struct {
	Agent      int
	Neighbours []int // agents of the cluster file, ascending; the admitted one connects to them
}

// MaxWarrant bounds the signed text of an admission or a removal, in bytes.
const MaxWarrant = 1024
