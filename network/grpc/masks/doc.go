// Package masks has the keys and streams of secure sums: each two agents share a stream of numbers,
// which one adds to its words of a sum and the other one subtracts. The sum over all agents stays
// the same to the last bit, and the words of one agent alone are noise.
//
// [Keys] is a state machine without input and output. An agent learns the keys of others from any
// neighbour ([Keys.AddKey]) and passes on all that it knows ([Keys.Published]); once the keys of
// all members of an epoch are here ([Keys.Missing]), [Keys.Mask] masks. keys.go has the state,
// text.go how a key travels and is verified, mask.go the streams.
//
// Keys belongs to one goroutine at a time.
package masks
