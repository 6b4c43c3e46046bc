package landlock

import "encoding/binary"

// System calls, the same numbers on amd64 and arm64 (include/uapi/asm-generic/unistd.h).
const (
	SysCreateRuleset = 444
	SysAddRule       = 445
	SysRestrictSelf  = 446
)

// Constants of include/uapi/linux/landlock.h.
const (
	CreateRulesetVersion = 1 // flag: return the ABI (attr NULL, size 0)
	CreateRulesetErrata  = 2 // flag: return the bitmask of fixed errata

	RuleTypePathBeneath = 1
	RuleTypeNetPort     = 2
)

// Attr encodes struct landlock_ruleset_attr for landlock_create_ruleset. Its
// length is the size argument: 8, 16 or 24, as the ABI has it, since an older
// kernel gives E2BIG for fields that it does not know.
func (rs Ruleset) Attr() []byte {
	out := make([]byte, 0, 24)
	for _, v := range []uint64{uint64(rs.HandledFS), uint64(rs.HandledNet), uint64(rs.Scoped)} {
		out = binary.LittleEndian.AppendUint64(out, v)
	}
	return out[:Supports(rs.ABI).Attr]
}

// PathBeneath encodes struct landlock_path_beneath_attr, which is packed: 12
// bytes. fd is the path, opened with O_PATH.
func PathBeneath(access FS, fd int32) [12]byte {
	var out [12]byte
	binary.LittleEndian.PutUint64(out[:], uint64(access))
	binary.LittleEndian.PutUint32(out[8:], uint32(fd))
	return out
}

// NetPort encodes struct landlock_net_port_attr: 16 bytes, the port in host order.
func NetPort(access Net, port uint16) [16]byte {
	var out [16]byte
	binary.LittleEndian.PutUint64(out[:], uint64(access))
	binary.LittleEndian.PutUint64(out[8:], uint64(port))
	return out
}
