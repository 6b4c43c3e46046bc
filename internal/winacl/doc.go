// Package winacl is the language of Windows access control as data: security
// identifiers, access masks, lists, descriptors in their SDDL and binary forms,
// a model of the access check, and the journal of what we have added to lists.
// It is pure: built, tested and used on every system. Nothing here calls Windows.
//
// The model follows [MS-DTYP] 2.5.3 (algorithms) and the documentation of
// CreateRestrictedToken and of mandatory integrity control. Where those leave
// something open, the model takes it as a parameter ([Reading]) and the tests say
// what holds under which reading. It is a model: no vector of a real Windows is in
// the tree yet, so what rests on it is reported as modelled, not as enforced.
package winacl
