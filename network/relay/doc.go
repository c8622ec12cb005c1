// Package relay connects agents that can all only dial out, and sees nothing of what they say.
//
// An agent that nobody can reach connects to the relay and waits there ([Client.Listen]); one that
// wants to talk to it connects to the relay too and names it ([Client.Dial]). [Serve] then joins
// the two connections: bytes go from one to the other as they come. The agents make a TLS
// connection over that, from end to end, as over one of their own, and check each other's
// certificates. So the relay needs no secret, and who watches it, or has it, learns who talks to
// whom in which run, when and how much.
//
// Who may use it: agents with a certificate of an authority of ca.pem, which is all that the relay
// has to know. It greets a connection with 32 random bytes, and the agent answers with what it
// wants, its certificate, and its signature of both: the bytes keep an answer from being used
// again. An agent waits under its own number alone.
//
// # On the wire
//
//	relay   "dsborly1", 32 random bytes
//	agent   length of what follows, 4 bytes big-endian, at most 16 KiB
//	        {"run": "...", "agent": 3, "to": 5, "certificate": "...", "signature": "..."}, without "to" to wait
//	relay   "ok\n" when the connections are joined, else why not, in one line; then it closes
//
// What stands before the line must come within 10 seconds. One that waits is answered when another
// agent names it.
//
// # Bounds
//
// Connections at once are bounded in all and for each agent, and those that have not said who they
// are besides (package entrance), and a joined pair has two buffers of 32 KiB. Connections whose
// other end has vanished end by TCP's keep-alive within a minute.
package relay
