package protect

import (
	"slices"
	"strings"
)

// Action is what the backend does with an item.
type Action uint8

// The actions. The zero value is the strictest.
const (
	ReadOnly Action = iota // mounted read-only on itself
	Pin                    // a folder that stays writable, bound on itself so that it cannot be renamed or replaced
	Watch                  // a link, or a name that is missing: nothing can be mounted there, Check looks at it
)

// String gives the word that plan prints.
func (a Action) String() string { return [...]string{"read-only", "pin", "watch"}[a] }

// Stamp tells one state of one directory entry from any other. Changed is the time
// of the last change of the inode (ctime), which a command cannot set.
type Stamp struct {
	Dev     uint64 `json:"dev,omitempty"`
	Ino     uint64 `json:"ino,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Type    uint32 `json:"type,omitempty"` // fs.FileMode type bits
	Changed int64  `json:"ctime,omitempty"`
}

// same tells whether it is the same inode; its contents may differ.
func (s Stamp) same(t Stamp) bool { return s.Dev == t.Dev && s.Ino == t.Ino && s.Type == t.Type }

// Item is one protected entry.
type Item struct {
	Path   string   `json:"path"`             // real path, strictly inside a root
	Name   string   `json:"name"`             // row of policy/protected.json that asks for it
	Action Action   `json:"action,omitempty"` //
	Dir    bool     `json:"dir,omitempty"`    //
	Target string   `json:"target,omitempty"` // of a watched link: its text
	Stamp  Stamp    `json:"stamp,omitzero"`   // zero: it is missing
	Known  []uint64 `json:"known,omitempty"`  // of a git config: hashes of the settings that may run programs
	Links  uint64   `json:"links,omitempty"`  // of a file: how many names it has, where that is known

	part part // what Check looks at
	repo *repo
	cfg  *config
}

// part is the kind of content that decides about a new or changed entry. The zero
// value is the strictest: its being there is the violation.
type part uint8

const (
	plain        part = iota
	gitFolder         // .git, a folder
	pointer           // .git, a file
	hookFolder        // judged by its entries
	configFile        // judged by its settings
	commonFile        // commondir
	placeFile         // gitdir: where a worktree is
	todoFile          // todo of a rebase or a sequence of picks
	strategyFile      // which program merges during a rebase
	optsFile          // options of a sequence of picks
	applyFolder       // rebase-apply
	farWorktree       // worktrees/<n> of a worktree outside the roots, read-only as a whole
)

// Limits bounds a walk. A zero field takes the default.
type Limits struct {
	Depth   int `json:"depth"`   // folders below a root that are listed; the root is 0
	Dirs    int `json:"dirs"`    // folders listed, shallow first
	Entries int `json:"entries"` // entries looked at

	// Heavy says that folders that tools fill (node_modules) are walked as well. Else Scan
	// names them in NotWalked, and of new ones Check looks for repositories alone.
	Heavy bool `json:"heavy,omitempty"`
}

// The default limits: a few milliseconds at most (docs/adr/0002-protect.md has the figures).
const (
	DefaultDepth   = 3
	DefaultDirs    = 256
	DefaultEntries = 4096
)

// The limits where folders that tools fill are walked: a tenth of a second or so.
const (
	HeavyDepth   = 64
	HeavyDirs    = 20_000
	HeavyEntries = 400_000
)

func (l Limits) orDefault() Limits {
	if l.Depth == 0 {
		l.Depth = DefaultDepth
	}
	if l.Dirs == 0 {
		l.Dirs = DefaultDirs
	}
	if l.Entries == 0 {
		l.Entries = DefaultEntries
	}
	return l
}

// Found is what Scan saw: what to protect now, and all that Check needs later.
type Found struct {
	Roots     []string `json:"roots"`
	Given     []string `json:"given,omitempty"`     // roots that lie in another one, maybe below a protected name
	Unwatched []string `json:"unwatched,omitempty"` // places that the command can write to and nobody looks at: no repository there may be used
	Written   []string `json:"written,omitempty"`   // writable entries of the user's: a protected name that one of them reaches is theirs
	Homes     []string `json:"homes,omitempty"`
	Allow     []string `json:"allow,omitempty"`
	Limits    Limits   `json:"limits"`
	Since     int64    `json:"since"`             // when the walk began, on the clock that stamps files
	Partial   bool     `json:"partial,omitempty"` // the budget ended before the walk did
	Items     []Item   `json:"items,omitempty"`   // to be mounted or watched; sorted by path, so a folder comes before what lies in it
	Covered   []Item   `json:"covered,omitempty"` // inside read-only items: for Check alone
	Walked    []string `json:"walked,omitempty"`  // folders that were listed
	Heavies   []string `json:"heavies,omitempty"` // folders that tools fill, which were not listed
	Hidden    []string `json:"hidden,omitempty"`  // folders that could not be listed
	NotWalked []string `json:"-"`                 // for the report: what was left out, and why
	Linked    []string `json:"-"`                 // files that have a name more than those that are items
}

// sortItems puts a folder before what lies in it, and drops doubles: of two items
// for one path the stricter stays.
func sortItems(items []Item) []Item {
	slices.SortStableFunc(items, func(a, b Item) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return int(a.Action) - int(b.Action)
	})
	return slices.CompactFunc(items, func(a, b Item) bool { return a.Path == b.Path })
}
