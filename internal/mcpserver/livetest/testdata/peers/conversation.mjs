// What every client does with the server. call validates structured content against
// the tool's schema: that is the library's work.
import assert from "node:assert/strict";

export async function conversation({ tools, call, refused }) {
  const names = (await tools()).tools.map((t) => t.name);
  assert.deepEqual(names, ["Bash", "BashOutput", "BashStop"]);

  let r = await call("Bash", { command: "echo hello; echo trouble >&2; exit 3", description: "fails" });
  assert.equal(r.isError, true);
  assert.equal(r.structuredContent.exit_code, 3);
  assert.equal(r.structuredContent.stdout, "hello\n");
  assert.equal(r.structuredContent.stderr, "trouble\n");
  assert.match(r.content[0].text, /hello/);

  // Odd bytes, and more than an answer holds.
  r = await call("Bash", { command: "head -c 4096 /dev/urandom; printf 'a\\000b\\377'; seq 100000" });
  assert.equal(r.structuredContent.exit_code, 0);
  assert.equal(r.structuredContent.truncated, true);
  assert.match(r.structuredContent.stdout, /99999\n100000\n$/);

  // What is refused, with the rule and the remedy.
  r = await call("Bash", { command: "echo x > /usr/made" });
  assert.equal(r.isError, true);
  assert.equal(r.structuredContent.denials[0].subject, "/usr/made");

  // The model's mistakes are results; the client's are errors.
  r = await call("Bash", { command: "true", cwd: "/" });
  assert.equal(r.isError, true);
  assert.equal(r.structuredContent.error.code, "USAGE_INVALID");
  await assert.rejects(call("Nope", {}), refused);

  // A time limit keeps what came before it.
  r = await call("Bash", { command: "echo before; sleep 60", timeout: 500 });
  assert.equal(r.structuredContent.timed_out, true);
  assert.equal(r.structuredContent.stdout, "before\n");

  // Progress, and a limit of the client's that progress extends.
  const seen = [];
  r = await call("Bash", { command: "echo going; sleep 2.5" }, { onprogress: (p) => seen.push(p), timeout: 20_000, resetTimeoutOnProgress: true });
  assert.equal(r.structuredContent.exit_code, 0);
  assert.ok(seen.length >= 2 && seen[1].progress > seen[0].progress, JSON.stringify(seen));

  // Cancelled by the client: it goes on at once, and the tree is ended.
  const stop = new AbortController();
  const cancelled = call("Bash", { command: "echo x > started; exec sleep 41102" }, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 1000);
  await assert.rejects(cancelled);

  // Jobs.
  r = await call("Bash", { command: "echo up; sleep 60", run_in_background: true });
  const job = r.structuredContent.job;
  r = await call("BashOutput", { job, wait: 20_000 });
  assert.equal(r.structuredContent.stdout, "up\n");
  r = await call("BashStop", { job });
  assert.equal(r.structuredContent.running, false);

  // 60 calls, 16 at a time, each with its own answer.
  const queue = [...Array(60).keys()];
  await Promise.all([...Array(16)].map(async () => {
    for (let n; (n = queue.pop()) !== undefined;) {
      const a = await call("Bash", { command: `echo n${n}` });
      assert.equal(a.structuredContent.stdout, `n${n}\n`);
    }
  }));
}
