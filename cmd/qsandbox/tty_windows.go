package main

// onResize does nothing: Windows has no signal for it.
func onResize(func()) (stop func()) { return func() {} }
