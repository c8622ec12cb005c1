//go:build !linux

package testkit

import "time"

var started = time.Now()

// ProcessorTime returns the time that has gone by.
func ProcessorTime() time.Duration { return time.Since(started) }
