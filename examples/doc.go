// Package examples holds modules of their own that build on this one. Its test runs them.
package examples
