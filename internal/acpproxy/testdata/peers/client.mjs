// A client made with the TypeScript library: node client.mjs CWD PROMPT ... -- COMMAND ...
// prints one line of JSON for each prompt. It has no terminals of its own.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const args = process.argv.slice(2);
const cut = args.indexOf("--");
const [cwd, ...prompts] = args.slice(0, cut);
const [command, ...rest] = args.slice(cut + 1);
const child = spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"], cwd });
let asked = 0, said = "";
const app = acp.client({ name: "peer-client" })
  .onRequest("terminal/create", () => { asked++; throw new Error("asked for a terminal"); })
  .onNotification("session/update", ({ params }) => { if (params.update.content?.text) said += params.update.content.text; });
await app.connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
  await agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } } });
  const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
  for (const text of prompts) {
    said = "";
    const r = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    console.log(JSON.stringify({ said: JSON.parse(said), stop: r.stopReason, asked }));
  }
});
child.stdin.end();
const code = await new Promise((r) => child.on("exit", (c, s) => r(s ?? c)));
console.log(JSON.stringify({ code }));
