package results

import (
	"reflect"
	"strings"
	"time"
)

// member is one field of an object of the report.
type member struct {
	name string
	of   reflect.Type
	must bool // it is always written
}

// fields gives those of a struct, nil of anything else.
func fields(t reflect.Type) []member {
	if t == nil || t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return nil
	}
	out := []member{}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, member{name: name, of: t.Field(i).Type, must: options != "omitempty"})
	}
	return out
}
