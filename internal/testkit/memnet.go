// A Network is a network in memory, for whole agents in one process on virtual time
// (testing/synctest): hosts listen, dial and talk as over TCP, on links with delays, resets and
// cuts.
//
// A link's effect on bytes depends on the two hosts and the moment of sending alone, never on the
// number or size of earlier writes. At one moment of virtual time the goroutines of a host run in
// an order that is not drawn from a seed, and this makes that order irrelevant. Bytes arrive in the
// order of sending. A Write takes no time: bytes in flight are buffered as by a kernel with a large
// send buffer, up to [maxInFlight]; beyond it the connection is reset.
//
// Nothing here starts a goroutine: a Read waits on a timer for the arrival of its bytes.

package testkit
