// An agent made with the TypeScript library. A prompt "run SCRIPT" is run in a terminal.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

let caps;
async function run(client, sessionId, script) {
  const t = await client.createTerminal({
    sessionId, command: "sh", args: ["-c", script], env: [{ name: "GIVEN", value: "yes" }], outputByteLimit: 3000,
  });
  const end = await t.waitForExit();
  const out = await t.currentOutput();
  await t.release();
  let after = "known";
  try { await client.request("terminal/output", { sessionId, terminalId: t.id }); } catch (e) { after = e.code; }
  return { end, out: out.output, truncated: out.truncated, status: out.exitStatus, after };
}
async function killed(client, sessionId) {
  const t = await client.createTerminal({ sessionId, command: "sh", args: ["-c", "echo x; exec sleep 600"] });
  while (!(await t.currentOutput()).output) await new Promise((r) => setTimeout(r, 20));
  const abort = new AbortController();
  const waiting = client.request("terminal/wait_for_exit", { sessionId, terminalId: t.id }, { cancellationSignal: abort.signal }).then(() => "done", (e) => e.code ?? e.name);
  const kill = await client.request("terminal/kill", { sessionId, terminalId: t.id });
  const end = await t.waitForExit();
  const out = await t.currentOutput();
  const release = await client.request("terminal/release", { sessionId, terminalId: t.id });
  return { kill, end, out: out.output, release, waited: await waiting };
}
async function many(client, sessionId) {
  const make = (i) => client.createTerminal({ sessionId, command: "sh", args: ["-c", `echo n${i}; exec sleep 600`] });
  const all = await Promise.all(Array.from({ length: 50 }, (_, i) => make(i)));
  let over;
  try { await make(50); over = "none"; } catch (e) { over = e.message; }
  const texts = await Promise.all(all.map(async (t, i) => {
    for (;;) { const o = await t.currentOutput(); if (o.output) return o.output === `n${i}\n`; await new Promise((r) => setTimeout(r, 50)); }
  }));
  await Promise.all(all.map((t) => t.release()));
  return { over, right: texts.every(Boolean), again: (await run(client, sessionId, "echo again")).out };
}

acp.agent({ name: "peer-agent" })
  .onRequest("initialize", ({ params }) => { caps = params.clientCapabilities; return { protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {} }; })
  .onRequest("session/new", () => ({ sessionId: "s1" }))
  .onRequest("session/prompt", async ({ params, client }) => {
    const text = params.prompt[0].text;
    const [verb, ...rest] = text.split(" ");
    let result;
    if (verb === "caps") result = caps;
    else if (verb === "run") result = await run(client, params.sessionId, rest.join(" "));
    else if (verb === "killed") result = await killed(client, params.sessionId);
    else if (verb === "many") result = await many(client, params.sessionId);
    await client.notify("session/update", { sessionId: params.sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: JSON.stringify(result) } } });
    return { stopReason: "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
