package ad

import "dsbo/internal/kernel"

// crewFor returns a crew with which to work on an entry of v at a time, nil where v is short or no
// processor is free. What is done with a vector of the length of y takes as long as memory does,
// and two processors move more of it than one.
func crewFor[T Float](v []T) *kernel.Crew { return kernel.NewCrew(len(v) * kernel.EntryWork) }
