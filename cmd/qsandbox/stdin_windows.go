package main

import (
	"os"
	"time"
)

// readable cannot wait on a pipe here: it is read in any case.
func readable(*os.File, time.Duration) bool { return true }
