package mcpserver

import "slices"

// The versions of the protocol that are spoken, newest first. modern has no
// handshake: each request says in _meta which version it is in. The others begin with
// initialize.
const modern = "2026-07-28"

var versions = []string{modern, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Keys of _meta (specification 2026-07-28, basic/index).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// era is how a request is to be answered.
type era uint8

const (
	legacy    era = iota // in a session that began with initialize
	stateless            // by itself
)

// eraOf reads what version a request is in.
func eraOf(m message) (era, *rpcError) {
	raw, ok := m.params["_meta"]
	if !ok {
		return legacy, nil
	}
	meta, ok := asObject(raw)
	if !ok {
		return legacy, badParams(m, "_meta must be an object")
	}
	raw, ok = meta[metaVersion]
	if !ok {
		return legacy, nil
	}
	v, ok := asString(raw)
	switch {
	case !ok:
		return legacy, badParams(m, "_meta "+quote(metaVersion)+" must be a string")
	case v == modern:
	case slices.Contains(versions, v):
		return legacy, nil
	default:
		return legacy, &rpcError{Code: codeVersion, Message: "unsupported protocol version", Data: map[string]any{"supported": versions, "requested": quoteData(v)}}
	}
	if _, ok := asObject(meta[metaCapabilities]); !ok {
		return legacy, badParams(m, "_meta "+quote(metaCapabilities)+" must be an object")
	}
	return stateless, nil
}

// quoteData bounds what is sent back to the peer as it came.
func quoteData(s string) string { return valid(s[:min(len(s), 64)]) }

func badParams(m message, why string) *rpcError {
	return &rpcError{Code: codeInvalidParams, Message: "read params of " + quote(m.method) + ": " + why}
}

// identity is how the server names itself.
func (s *Server) identity() map[string]any {
	return map[string]any{"name": "qsandbox", "title": "qsandbox", "version": s.opt.Version}
}

// capabilities: tools, which never change while the server runs.
func capabilities() map[string]any { return map[string]any{"tools": map[string]any{}} }

// initialize begins a session of the older versions. The version of the client is
// taken when it is known, else it gets our newest to decide about.
func (s *session) initialize(m message) (map[string]any, *rpcError) {
	v, ok := asString(m.params["protocolVersion"])
	if !ok {
		return nil, badParams(m, "protocolVersion must be a string")
	}
	if v == modern || !slices.Contains(versions, v) {
		v = versions[1]
	}
	s.initialized = true
	return map[string]any{
		"protocolVersion": v, "capabilities": capabilities(), "serverInfo": s.srv.identity(), "instructions": s.srv.instructions(),
	}, nil
}

// discover is what there is instead of initialize.
func (s *session) discover() map[string]any {
	return cached(map[string]any{"supportedVersions": versions, "capabilities": capabilities(), "instructions": s.srv.instructions()})
}

// cached marks a result that stays the same as long as the server runs, and that is
// about this user's machine.
func cached(result map[string]any) map[string]any {
	result["ttlMs"], result["cacheScope"] = 3_600_000, "private"
	return result
}

// finished adds what every stateless result has, and takes off what the older
// versions do not know.
func (s *Server) finished(result map[string]any, e era) map[string]any {
	if e == stateless {
		result["resultType"] = "complete"
		result["_meta"] = map[string]any{metaServer: s.identity()}
		return result
	}
	delete(result, "ttlMs")
	delete(result, "cacheScope")
	return result
}
