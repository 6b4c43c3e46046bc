// The official client of the older protocol, against the server given as arguments.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { conversation } from "./conversation.mjs";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "peer-v1", version: "1" });
const errors = [];
client.onerror = (e) => errors.push(String(e));
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
await client.connect(transport);
assert.equal(client.getServerVersion().name, "qsandbox");
await client.ping();
await conversation({
  tools: () => client.listTools(),
  call: (name, a, options) => client.callTool({ name, arguments: a }, undefined, options),
  refused: /MCP error -32602/,
});
await client.close();
assert.deepEqual(errors, []);
console.log("peer-v1 ok");
