// Package guard bounds what strangers cost a server: connections before they are known
// ([Listener]), and lines of the log ([LimitLog]).
package guard
