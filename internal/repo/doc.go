// Package repo holds no code: its tests are the rules of the repository. They read
// the files as they are, and start no program: a test that runs "go list" is
// answered from the test cache, and misses changes.
package repo
