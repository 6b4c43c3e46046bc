package cell

import (
	"encoding/json"
	"errors"
)

// decode reads what Name is started with.
func decode(text string) (Spec, error) {
	var s Spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, err
	}
	if s.Dir == "" || s.Outer == "" || len(s.Argv) == 0 {
		return s, errors.New("qsandbox verify starts this by itself")
	}
	return s, nil
}
