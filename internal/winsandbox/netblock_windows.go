package winsandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The Windows Filtering Platform, as far as needed (fwpmu.h, fwpmtypes.h, fwptypes.h).
var (
	fwpuclnt            = windows.NewLazySystemDLL("fwpuclnt.dll")
	procEngineOpen      = fwpuclnt.NewProc("FwpmEngineOpen0")
	procEngineClose     = fwpuclnt.NewProc("FwpmEngineClose0")
	procTransactBegin   = fwpuclnt.NewProc("FwpmTransactionBegin0")
	procTransactCommit  = fwpuclnt.NewProc("FwpmTransactionCommit0")
	procSubLayerAdd     = fwpuclnt.NewProc("FwpmSubLayerAdd0")
	procFilterAdd       = fwpuclnt.NewProc("FwpmFilterAdd0")
	conditionUser       = windows.GUID{Data1: 0xaf043a0a, Data2: 0xb34d, Data3: 0x4f86, Data4: [8]byte{0x97, 0x9c, 0xc9, 0x03, 0x71, 0xaf, 0x6e, 0x66}} // FWPM_CONDITION_ALE_USER_ID
	layersConnectAccept = []windows.GUID{
		{Data1: 0xc38d57d1, Data2: 0x05a7, Data3: 0x4c33, Data4: [8]byte{0x90, 0x4f, 0x7f, 0xbc, 0xee, 0xe6, 0x0e, 0x82}}, // FWPM_LAYER_ALE_AUTH_CONNECT_V4
		{Data1: 0x4a72393b, Data2: 0x319f, Data3: 0x44bc, Data4: [8]byte{0x84, 0xc3, 0xba, 0x54, 0xdc, 0xb3, 0xb6, 0xb4}}, // …_V6
		{Data1: 0xe1cd9fe7, Data2: 0xf4b5, Data3: 0x4273, Data4: [8]byte{0x96, 0xc0, 0x59, 0x2e, 0x48, 0x7b, 0x86, 0x50}}, // FWPM_LAYER_ALE_AUTH_RECV_ACCEPT_V4
		{Data1: 0xa3b42c97, Data2: 0x9f04, Data3: 0x4672, Data4: [8]byte{0xb8, 0x7e, 0xce, 0xe9, 0xc4, 0x83, 0x25, 0x7f}}, // …_V6
	}
)

const (
	authnDefault       = 0xFFFFFFFF // RPC_C_AUTHN_DEFAULT
	sessionDynamic     = 1          // FWPM_SESSION_FLAG_DYNAMIC: all of it goes with the session
	clearActionRight   = 8          // FWPM_FILTER_FLAG_CLEAR_ACTION_RIGHT: no other sublayer lifts a block
	actionBlock        = 0x1001     // FWP_ACTION_BLOCK
	actionPermit       = 0x1002     // FWP_ACTION_PERMIT: in our sublayer; others may still block
	typeUint8          = 1          // FWP_UINT8
	typeDescriptor     = 14         // FWP_SECURITY_DESCRIPTOR_TYPE
	matchEqual         = 0          // FWP_MATCH_EQUAL
	sublayerWeight     = 0xFFFF
	transactionTimeout = 5000 // milliseconds: another program may hold the engine
)

type (
	fwpBlob    struct{ size, data uintptr } // size has 32 bits; the rest is padding
	fwpDisplay struct{ name, description *uint16 }
	fwpValue   struct {
		kind  uint32
		value uintptr
	}
	fwpSession struct {
		key       windows.GUID
		display   fwpDisplay
		flags     uint32
		timeout   uint32
		process   uint32
		sid, user uintptr
		kernel    uint32
	}
	fwpSublayer struct {
		key      windows.GUID
		display  fwpDisplay
		flags    uint32
		provider *windows.GUID
		data     fwpBlob
		weight   uint16
	}
	fwpCondition struct {
		field windows.GUID
		match uint32
		value fwpValue
	}
	fwpFilter struct {
		key        windows.GUID
		display    fwpDisplay
		flags      uint32
		provider   *windows.GUID
		data       fwpBlob
		layer      windows.GUID
		sublayer   windows.GUID
		weight     fwpValue
		conditions uint32
		condition  *fwpCondition
		action     uint32
		actionType windows.GUID
		_          uint32
		context    windows.GUID
		reserved   uintptr
		id         uint64
		effective  fwpValue
	}
)

// netBlock is an open session with the filter engine; its filters go with it, however
// the helper ends.
type netBlock struct{ engine windows.Handle }

// canBlock tells why no filters can be set for this process, or "".
func canBlock() string {
	t := windows.GetCurrentProcessToken()
	if !t.IsElevated() {
		return "the helper does not run as an administrator"
	}
	g, err := t.GetTokenGroups()
	if err != nil {
		return err.Error()
	}
	for _, a := range g.AllGroups() {
		if s, err := fromSID(a.Sid); err == nil && s == organization && counts(a) {
			return ""
		}
	}
	return "the group This Organization, which would tell the run's token from others, is not in ours"
}

// counts tells whether a group counts for grants.
func counts(a windows.SIDAndAttributes) bool {
	return a.Attributes&windows.SE_GROUP_ENABLED != 0 && a.Attributes&windows.SE_GROUP_USE_FOR_DENY_ONLY == 0
}

// blockNetwork sets the filters, all or none.
func blockNetwork(rules []filterRule) (*netBlock, error) {
	name, err := windows.UTF16PtrFromString("qsandbox")
	if err != nil {
		return nil, err
	}
	b := &netBlock{}
	session := &fwpSession{display: fwpDisplay{name: name}, flags: sessionDynamic, timeout: transactionTimeout}
	if err := fwp(procEngineOpen, 0, authnDefault, 0, uintptr(unsafe.Pointer(session)), uintptr(unsafe.Pointer(&b.engine))); err != nil {
		return nil, err
	}
	runtime.KeepAlive(session)
	if err := b.set(name, rules); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *netBlock) set(name *uint16, rules []filterRule) error {
	key, err := windows.GenerateGUID()
	if err != nil {
		return err
	}
	if err := fwp(procTransactBegin, uintptr(b.engine), 0); err != nil {
		return err
	}
	layer := &fwpSublayer{key: key, display: fwpDisplay{name: name}, weight: sublayerWeight}
	if err := fwp(procSubLayerAdd, uintptr(b.engine), uintptr(unsafe.Pointer(layer)), 0); err != nil {
		return err
	}
	runtime.KeepAlive(layer)
	for _, l := range layersConnectAccept {
		for _, r := range rules {
			if err := b.add(l, key, r); err != nil {
				return err
			}
		}
	}
	return fwp(procTransactCommit, uintptr(b.engine))
}

func (b *netBlock) add(layer, sublayer windows.GUID, r filterRule) error {
	name, err := windows.UTF16PtrFromString(r.name)
	if err != nil {
		return err
	}
	sd := r.who.Encode()
	// The engine reads what these point to; pinned, since addresses are kept as numbers.
	var pin runtime.Pinner
	defer pin.Unpin()
	blob := &fwpBlob{size: uintptr(len(sd)), data: uintptr(unsafe.Pointer(&sd[0]))}
	pin.Pin(&sd[0])
	pin.Pin(blob)
	f := &fwpFilter{
		display: fwpDisplay{name: name}, layer: layer, sublayer: sublayer, weight: fwpValue{typeUint8, uintptr(r.weight)}, conditions: 1,
		condition: &fwpCondition{conditionUser, matchEqual, fwpValue{typeDescriptor, uintptr(unsafe.Pointer(blob))}}, action: actionPermit,
	}
	if r.block {
		f.action, f.flags = actionBlock, clearActionRight
	}
	return fwp(procFilterAdd, uintptr(b.engine), uintptr(unsafe.Pointer(f)), 0, 0)
}

func (b *netBlock) close() {
	if b != nil {
		fwp(procEngineClose, uintptr(b.engine)) //nolint:errcheck // the end of the process closes it too
	}
}

// fwp calls a function whose answer is an error code. What the numbers point to stays in
// its place, and alive, until it returns.
//
//go:uintptrescapes
func fwp(p *windows.LazyProc, args ...uintptr) error {
	if err := p.Find(); err != nil {
		return err
	}
	r, _, _ := p.Call(args...)
	if r != 0 {
		return fmt.Errorf("%s: %w (%#x)", p.Name, windows.Errno(r), uint32(r))
	}
	return nil
}

// offline sets the filters of a run without network, best effort: why is what it came to.
func (r *run) offline() (b *netBlock, why string) {
	if r.Network == NetworkOn || r.noFilters != "" {
		return nil, r.noFilters
	}
	b, err := blockNetwork(filterRules(r.wish))
	if err != nil {
		return nil, err.Error()
	}
	return b, ""
}
