package random

// identify: worlds are not tried on Windows, where explain's answers are the model's.
func identify(string) (ID, error) { return ID{}, nil }
