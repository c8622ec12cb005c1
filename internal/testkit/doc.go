// Package testkit has the common parts of tests and conformance suites: steps that must succeed
// ([OK], [Get]), a network in memory on virtual time ([Network]), a file system in memory that can
// lose its power ([Memory]), small data, and a headless browser.
package testkit
