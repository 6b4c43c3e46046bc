package winacl

// Mask is an access mask ([MS-DTYP] 2.4.3).
type Mask uint32

// Rights on files and directories. A bit has two names: what it is for a file, and
// for a directory.
const (
	ReadData       Mask = 0x1
	ListDirectory  Mask = 0x1
	WriteData      Mask = 0x2
	AddFile        Mask = 0x2
	AppendData     Mask = 0x4
	AddSubdir      Mask = 0x4
	ReadEA         Mask = 0x8
	WriteEA        Mask = 0x10
	Execute        Mask = 0x20
	Traverse       Mask = 0x20
	DeleteChild    Mask = 0x40 // of a directory: delete what is in it, whatever its own list says
	ReadAttributes Mask = 0x80
	WriteAttribs   Mask = 0x100

	Delete      Mask = 0x10000
	ReadControl Mask = 0x20000
	WriteDAC    Mask = 0x40000
	WriteOwner  Mask = 0x80000
	Synchronize Mask = 0x100000

	MaximumAllowed Mask = 0x2000000
	GenericAll     Mask = 0x10000000
	GenericExecute Mask = 0x20000000
	GenericWrite   Mask = 0x40000000
	GenericRead    Mask = 0x80000000
)

// Mapping says what the generic rights mean for a type of object.
type Mapping struct{ Read, Write, Execute, All Mask }

// File is the mapping of files and directories (winnt.h: FILE_GENERIC_READ …).
var File = Mapping{Read: 0x120089, Write: 0x120116, Execute: 0x1200A0, All: 0x1F01FF}

// Pipe is the mapping of named pipes and Key that of registry keys: the same bits
// count as writing, so that a model of them needs no more.
var (
	Pipe = File
	Key  = Mapping{Read: 0x20019, Write: 0x20006, Execute: 0x20019, All: 0xF003F}
)

// Map replaces generic rights by what they stand for.
func (g Mapping) Map(m Mask) Mask {
	for _, p := range []struct{ generic, means Mask }{{GenericRead, g.Read}, {GenericWrite, g.Write}, {GenericExecute, g.Execute}, {GenericAll, g.All}} {
		if m&p.generic != 0 {
			m = m&^p.generic | p.means
		}
	}
	return m
}

// Reading is how WRITE_RESTRICTED is read where its documentation leaves it open:
// which rights ask the restricting identifiers as well. CreateRestrictedToken says
// "only when evaluating write access".
type Reading uint8

// The readings.
const (
	// Wide: every right that neither reading nor executing has, DELETE, WRITE_DAC
	// and WRITE_OWNER among them.
	Wide Reading = iota
	// Narrow: only what GENERIC_WRITE has over reading and executing.
	Narrow
)

// Readings lists both, for tests.
func Readings() []Reading { return []Reading{Wide, Narrow} }

// String gives the name.
func (r Reading) String() string { return [...]string{"wide", "narrow"}[r] }

// writes gives the rights for which a write-restricted token is asked twice.
func (r Reading) writes(g Mapping) Mask {
	if r == Narrow {
		return g.Write &^ (g.Read | g.Execute)
	}
	return (g.All | WriteOwner | WriteDAC | Delete) &^ (g.Read | g.Execute)
}
