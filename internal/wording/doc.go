// Package wording makes text for people: numbers of things in sentences ([Count], [Ranges],
// [List]), foreign texts without control characters ([Plain]), and the program's version ([Build]).
package wording
