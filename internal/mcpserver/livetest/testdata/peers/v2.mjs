// The official client of the newer protocol, in the era given first: legacy or modern.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { conversation } from "./conversation.mjs";

const [era, command, ...args] = process.argv.slice(2);
const options = era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
const client = new Client({ name: "peer-v2", version: "1" }, options);
const errors = [];
client.onerror = (e) => errors.push(String(e));
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
assert.equal(client.getProtocolEra(), era);
await conversation({
  tools: () => client.listTools(),
  call: (name, a, o) => client.callTool({ name, arguments: a }, o),
  refused: /no tool/,
});
await client.close();
assert.deepEqual(errors, []);
console.log("peer-v2 " + era + " ok");
