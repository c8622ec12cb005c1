//go:build !linux

package main

import "time"

var started = time.Now()

// clock returns the time that has gone by.
func clock() time.Duration { return time.Since(started) }
