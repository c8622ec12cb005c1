// Package pki makes and reads the certificates by which agents on different machines know each other.
//
// A run has one [Authority], which issues each agent an [Identity]: a certificate whose only DNS name is agent-<i>,
// and its key. Two agents accept each other if the same authority has signed both certificates, if these are valid
// now, and if each names the agent that its holder claims to be. The keys are ECDSA on P-256 and the connections TLS
// 1.3. An agent can sign messages with its key, and derive other keys from it, as the masks of sums need. The Identity of a [dsbo/network/grpc] configuration is one of these.
//
// On disk certificates and keys are PEM, readable by their owner alone:
//
//	ca.pem      ca-key.pem        the authority; the key stays where certificates are issued
//	agent-3.pem agent-3-key.pem   agent 3, whose machine needs these two and ca.pem
package pki
