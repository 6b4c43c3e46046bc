package qsandbox

import (
	"encoding/json"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// PolicyViewVersion is the version of the JSON form of PolicyView. It grows when a field changes meaning.
const PolicyViewVersion = 1

// PolicyView is the policy that results from all layers, one row per field, each with
// the layer that it comes from. It is plain data, for people and programs to read.
type PolicyView struct {
	Version int           `json:"version"`
	Fields  []PolicyField `json:"fields"` // in the order of the policy file
}

// PolicyField is one field of the policy.
type PolicyField struct {
	Name    string          `json:"name"`            // "filesystem.writable"
	Value   json.RawMessage `json:"value,omitempty"` // as a policy file has it; absent when hidden
	Hidden  bool            `json:"hidden,omitempty"`
	Origin  policy.Origin   `json:"origin"`            // the layer that set it last
	Entries []PolicyEntry   `json:"entries,omitempty"` // of a list or a map
}

// PolicyEntry is one entry of a list, or one variable of env.set.
type PolicyEntry struct {
	Entry  string        `json:"entry"`
	Origin policy.Origin `json:"origin"`
}

// EffectivePolicy merges layers over the built-in policy and says where each
// value comes from. Values that may be secrets (env.set, network.upstream) are
// hidden unless asked for. Errors are of code POLICY_INVALID.
func EffectivePolicy(layers []policy.Layer, v Values) (*PolicyView, error) {
	eff, err := policy.Merge(append([]policy.Layer{policy.BuiltIn()}, layers...)...)
	if err != nil {
		return nil, err
	}
	out := &PolicyView{Version: PolicyViewVersion}
	for _, f := range policy.Fields() {
		row := PolicyField{Name: f.Name, Origin: eff.Origins[f.Name]}
		raw, err := f.JSON(eff.Policy)
		if err != nil {
			return nil, err
		}
		entries := f.Entries(eff.Policy)
		if v == HideValues && secret(f.Name, eff.Policy) {
			row.Hidden = true // SECURITY: a value may be a password
		} else {
			row.Value = raw
		}
		for _, e := range entries {
			row.Entries = append(row.Entries, PolicyEntry{Entry: e, Origin: eff.EntryOrigins[f.Name][e]})
		}
		out.Fields = append(out.Fields, row)
	}
	return out, nil
}

// secret tells whether a field holds values that may be secrets.
func secret(name string, p policy.Policy) bool {
	switch name {
	case "env.set":
		return len(p.Env.Set) > 0
	case "network.upstream":
		return p.Network.Upstream != ""
	}
	return false
}

// Variables gives the values of a field that is a map (env.set); nil when hidden.
func (f PolicyField) Variables() map[string]string {
	var out map[string]string
	if f.Hidden || json.Unmarshal(f.Value, &out) != nil {
		return nil
	}
	return out
}
