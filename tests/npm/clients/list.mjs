// SPDX-License-Identifier: Apache-2.0
// List what a server over stdio offers with an official client for Node, and print the names as JSON:
// list.mjs 1|2 REVISION COMMAND [ARGUMENT…]

import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';

const MODERN = '2026-07-28';
const [generation, revision, command, ...args] = process.argv.slice(2);
const info = { name: 'lister', version: '1' };
const versionNegotiation = { mode: revision === MODERN ? { pin: MODERN } : 'legacy' };
const client = generation === '1' ? new LegacyClient(info) : new ModernClient(info, { versionNegotiation });
const transport = new (generation === '1' ? LegacyTransport : ModernTransport)({ command, args, env: process.env });

await client.connect(transport);
const names = (items) => items.map((item) => item.name);
const found = {
    revision: transport.protocolVersion ?? client.getNegotiatedProtocolVersion?.() ?? revision,
    tools: names((await client.listTools()).tools),
    resources: names((await client.listResources()).resources),
    templates: names((await client.listResourceTemplates()).resourceTemplates),
    prompts: names((await client.listPrompts()).prompts),
};
await client.close();
console.log(JSON.stringify(found));
