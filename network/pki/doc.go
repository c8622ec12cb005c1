// Package pki makes and reads the certificates by which agents on different machines identify each
// other.
//
// An [Authority] signs, and each agent has an [Identity]: a certificate and its key, with which a
// [dsbo/network/session] configuration connects. Two agents accept each other if an authority that
// the one knows has signed the other's certificate, if that is valid now, and if it names the agent
// that its holder claims to be. Connections are TLS 1.3. An agent can sign messages with its key,
// and derive others from it, such as for tags of data. The authority also signs who comes into a
// run ([Authority.Admit]) and who is taken out of it ([Authority.Remove]).
//
// [Authority.Issue] makes a key and its certificate together, which is for trials and agents of one
// owner. Sites that keep their keys make a [Request], which a consortium's authority signs by
// openssl, step-ca or a program of its own. [Files] reads certificates again when they change.
//
// A server that strangers reach bounds what they cost: connections before they are identified
// ([LimitStrangers]), lines of the log ([LimitLog]), and repeated signatures ([Trust.Verify]).
//
// # Files
//
// On disk certificates and keys are PEM, readable by their owner alone:
//
//	ca.pem      ca-key.pem        the authority; the key stays where certificates are signed
//	agent-3.pem agent-3-key.pem   agent 3, whose machine needs these two and ca.pem
//	agent-3.csr                   its request
//	agent-8.admission             lets agent 8 join a running run
//	agent-3.removal               takes agent 3 out of a run, for good
//	relay.pem   relay-key.pem     a relay, whose certificate names its host
//
// ca.pem may have several certificates: what any of them has signed is accepted. For a roll-over
// the new authority, whose key is in ca-key.pem, comes first and then the old one. agent-3.pem may
// have intermediate certificates after its own.
//
// # Certificates of other programs
//
// Requirements for certificates signed by other programs:
//
//   - Of the DNS names among a certificate's subject alternative names one, and no other, is
//     agent-<i>. The common name does not matter, and other names are not asked.
//   - Its extended key usage has serverAuth and clientAuth, or there is none.
//   - Among its URIs is dsbo:run:<name> for each run that the agent takes part in, unless the
//     cluster file pins the agent's key ([Identity.InRun]). So an agent of one run is none of
//     another that has the same authority.
//   - The key is ECDSA, Ed25519 or RSA, of 2048 bits or more, in PKCS #8, SEC 1 or PKCS #1, without
//     a password.
//   - Certificates of authorities are marked as such (CA:TRUE).
//
// deploy/README.md has the commands.
package pki
