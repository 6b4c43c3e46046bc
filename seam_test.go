package qsandbox

import "github.com/qiming-sandbox/qsandbox/internal/plan"

// Weaken lets every plan be altered before it is carried out, until undo.
func Weaken(f func(*plan.Plan)) (undo func()) {
	alter = f
	return func() { alter = nil }
}
