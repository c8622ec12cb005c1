// A Network is a network in memory, for whole agents in one process on virtual time
// (testing/synctest): hosts that listen, dial and talk as over TCP, on links that delay, reset and
// are cut.
//
// What a link does to bytes follows from the two hosts and the moment at which they are sent, never
// from how many writes there were before or how the writer cut its text: at one moment of virtual
// time several goroutines of a host run in an order that nobody draws, and that order then changes
// nothing. Bytes come in the order in which they were sent. A Write takes no time: what is on its
// way is kept as by a kernel with a large send buffer, up to [MaxInFlight], after which the
// connection is reset.
//
// Nothing here starts a goroutine: a Read waits for the arrival of what it will return, on a timer.

package testkit
