package policy

import "github.com/qiming-sandbox/qsandbox/fault"

const opMerge = "merge policy"

// Effective is the policy that results from all layers, and where its parts came from.
type Effective struct {
	Policy Policy
	// Origins has the layer that last set each field, by the field's name.
	Origins map[string]Origin
	// EntryOrigins has, for lists and maps, the layer that gave each entry: by the
	// field's name, then by the entry (for env.set by the variable's name).
	EntryOrigins map[string]map[string]Origin
}

// Merge puts layers, lowest first, on top of the built-in policy. A field that a
// layer sets replaces what is below, except that
//   - a workspace file, and any layer with NarrowOnly, may only narrow;
//   - flags are appended to writable, denyRead, denyWrite, network.deny, env.pass and env.set.
//
// Every value is checked and normalised. Errors are of code POLICY_INVALID, with the
// layer's name and the field as subject.
func Merge(layers ...Layer) (Effective, error) {
	e := builtIn()
	for i := range layers {
		l := &layers[i]
		if i > 0 && l.Origin.Kind < layers[i-1].Origin.Kind {
			return Effective{}, fault.New(fault.Internal, opMerge, l.Origin.String(), "layers go from built-in over stored, file and workspace to flags")
		}
		if err := e.put(l); err != nil {
			return Effective{}, err
		}
	}
	e.Policy.Version = CurrentVersion // a newer stored policy was read as far as it is known
	return e, nil
}

// builtIn is Default with its origins.
func builtIn() Effective {
	e := Effective{Origins: make(map[string]Origin, len(Fields())), EntryOrigins: map[string]map[string]Origin{}}
	e.Policy, _ = Normalise(Default()) // a test shows that Default is legal
	for _, f := range Fields() {
		e.Origins[f.Name] = Origin{}
	}
	return e
}

// put applies one layer.
func (e *Effective) put(l *Layer) error {
	below := e.Policy
	table := Fields()
	for i := range table {
		f := &table[i]
		if !f.ops.has(l) || f.Name == "version" && l.Origin.Kind == OriginStored {
			continue
		}
		if bad := putField(f, &e.Policy, &below, l); bad != nil {
			subject := f.Name
			if l.Origin != (Origin{}) {
				subject = l.Origin.String() + ":" + f.Name
			}
			return bad.fault(opMerge, subject)
		}
		e.note(f, l)
	}
	return nil
}

func putField(f *Field, p, below *Policy, l *Layer) *problem {
	switch {
	case f.Name == "mode" && *l.Mode == Permissive && (l.NarrowsOnly() || l.Origin.Kind <= OriginStored):
		return badf("permissive is asked for per run, and cannot be the default").hinted("use --mode permissive for one run, or set strict or compat here") // POL-08
	case l.NarrowsOnly():
		bad := f.ops.narrow(p, below, l)
		if bad != nil && bad.hint == "" {
			bad.hinted("this layer may only narrow; for " + f.Name + " that is: " + string(f.Narrows))
		}
		return bad
	case l.Origin.Kind == OriginFlags:
		return f.ops.add(p, l)
	}
	return f.ops.set(p, l)
}

// note records where a field and its entries came from. An entry that was there
// before keeps its origin when the layer could not have dropped or brought it.
func (e *Effective) note(f *Field, l *Layer) {
	e.Origins[f.Name] = l.Origin
	entries := f.ops.entries(&e.Policy)
	if len(entries) == 0 {
		delete(e.EntryOrigins, f.Name)
		return
	}
	keeps := l.NarrowsOnly() || l.Origin.Kind == OriginFlags
	was, now := e.EntryOrigins[f.Name], make(map[string]Origin, len(entries))
	for _, entry := range entries {
		now[entry] = l.Origin
		if o, ok := was[entry]; ok && keeps {
			now[entry] = o
		}
	}
	if l.Origin.Kind == OriginFlags && f.Name == "env.set" {
		noteSet(now, *l.Env.Set, l.Origin)
	}
	e.EntryOrigins[f.Name] = now
}

// noteSet: a variable that flags set again has their value, so it is theirs.
func noteSet(now map[string]Origin, set map[string]string, o Origin) {
	for name := range set {
		now[name] = o
	}
}
