// Package relay connects agents that can all only dial out, and sees nothing of what they exchange.
//
// A relay is an HTTPS server, so that firewalls and proxies between an agent and the internet let
// it through: port 443, TLS, HTTP/1.1 with an Upgrade, as websockets have. Agents reach it through
// the proxies of their sites ([Dial]). An agent that nobody can reach waits at the relay
// ([Client.Listen]). An agent that wants to connect to it names it there ([Client.Dial]). [Serve]
// then joins the two connections: bytes go from one to the other as they come. The agents make a
// TLS connection of their own over that, from end to end, and check each other's certificates. So
// the relay needs no secret of theirs, and who watches it, or has it, learns who is connected to
// whom in which run, when and how much.
//
// Who may use it: agents with a certificate of an authority of ca.pem. A request has the
// certificate, the time, a random number and the agent's signature of these, the method, the host
// and the path, since a certificate shown in the outer TLS ends at the first ingress or inspecting
// proxy. A signature is valid for five minutes and once. An agent waits under its own number alone.
//
// # Requests
//
//	GET /                     a page for people
//	GET /healthz              200
//	GET /runs/RUN/wait        101; then "." each 20 seconds, and "!" when they are joined
//	GET /runs/RUN/agents/J    101 when the connections are joined; 503 while agent J does not wait
//
// The two of agents have the headers Connection: Upgrade, Upgrade: dsbo and Authorization: dsbo
// with a JSON object in base64. 403 refuses with a reason.
//
// # Bounds
//
// Simultaneous connections are bounded in all and for each agent, and unidentified ones separately
// (package pki). A request has at most 16 KiB and must come within 10 seconds. A joined pair has
// two buffers of 32 KiB. Connections whose other end has vanished end within a minute.
package relay
