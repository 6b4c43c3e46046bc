package store

import (
	"context"
	"encoding/json"
	"io"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// maxRequest bounds what is read from the caller.
const maxRequest = 4 << 20

// Serve answers one request, read as JSON, in JSON. The exit code is 0 whenever there is
// an answer, also when that is an error.
func Serve(in io.Reader, out io.Writer) int {
	var req snapshot.Request
	resp := snapshot.Response{}
	err := json.NewDecoder(io.LimitReader(in, maxRequest)).Decode(&req)
	if err == nil {
		resp, err = answer(context.Background(), req)
	} else {
		err = fault.Wrap(fault.UsageInvalid, "read request", "", err).WithHint("qsandbox starts this program by itself; see qsandbox policy --help")
	}
	if err != nil {
		resp.Error = snapshot.Fail(err)
	}
	if json.NewEncoder(out).Encode(resp) != nil {
		return 1
	}
	return 0
}

func answer(ctx context.Context, req snapshot.Request) (snapshot.Response, error) {
	s := At(host.Real(), req.Path, req.Ours)
	switch req.Op {
	case snapshot.OpRead:
		return s.Read(ctx)
	case snapshot.OpSet, snapshot.OpReplace:
		return s.fields(ctx, req)
	case snapshot.OpReset:
		return s.Reset(ctx)
	case snapshot.OpHistory:
		return s.History(ctx, req.Limit)
	case snapshot.OpBackup:
		return s.Backup(ctx, req.To)
	case snapshot.OpRestore:
		return s.Restore(ctx, req.From)
	case snapshot.OpRollback:
		return s.Rollback(ctx, req.Version)
	case snapshot.OpMigrate:
		return s.Migrate(ctx, req.DryRun)
	case snapshot.OpImport:
		return s.Import(ctx, req.From)
	}
	return snapshot.Response{}, fault.New(fault.UsageInvalid, "answer", string(req.Op), "there is no such operation")
}

// fields carries out what comes with a policy.
func (s *Store) fields(ctx context.Context, req snapshot.Request) (snapshot.Response, error) {
	l := policy.Layer{}
	if len(req.Policy) > 0 {
		var err error
		if l, err = policy.Parse("", req.Policy); err != nil {
			return snapshot.Response{}, err
		}
	}
	l.Version = nil
	if req.Op == snapshot.OpReplace {
		return s.Replace(ctx, req.How, l)
	}
	return s.Set(ctx, req.How, l, req.Unset)
}
