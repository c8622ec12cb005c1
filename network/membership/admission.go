package membership

// An Admission lets an agent that the cluster file does not have into a run that goes on: an
// authority has signed its number, its neighbours, and of which run that is.
type Admission struct {
	Agent      int
	Neighbours []int // agents of the cluster file, ascending; the admitted one connects to them
}

// MaxWarrant bounds the signed text of an admission or a removal, in bytes.
const MaxWarrant = 1024
