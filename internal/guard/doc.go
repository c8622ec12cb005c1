// Package guard bounds the cost of strangers to a server: connections before they are identified
// ([listener]), lines of the log ([LimitLog]), and repeated signatures ([CheckSignature]).
package guard
