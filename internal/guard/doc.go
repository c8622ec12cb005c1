// Package guard bounds what others cost a server: connections before they are known ([listener]),
// lines of the log ([LimitLog]), and signatures that come again ([CheckSignature]).
package guard
