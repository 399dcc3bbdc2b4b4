// SPDX-License-Identifier: Apache-2.0
// The clients of the matrix: the SDK 1.x and the client 2.x, made to look alike. Both keep what they are told, and answer
// what they are asked by `answers`.

import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ElicitationCompleteNotificationSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    PromptListChangedNotificationSchema,
    ResourceListChangedNotificationSchema,
    ResourceUpdatedNotificationSchema,
    ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

import { isOwnRace, within } from './support.mjs';

const MODERN = '2026-07-28';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const INFO = { name: 'matrix', version: '1' };
const BOTH_MODES = { form: {}, url: {} };
const TOLD = {
    tools: ['notifications/tools/list_changed', ToolListChangedNotificationSchema],
    prompts: ['notifications/prompts/list_changed', PromptListChangedNotificationSchema],
    resources: ['notifications/resources/list_changed', ResourceListChangedNotificationSchema],
    updated: ['notifications/resources/updated', ResourceUpdatedNotificationSchema],
    log: ['notifications/message', LoggingMessageNotificationSchema],
    complete: ['notifications/elicitation/complete', ElicitationCompleteNotificationSchema],
};
const ASKED = {
    elicit: ['elicitation/create', ElicitRequestSchema],
    sample: ['sampling/createMessage', CreateMessageRequestSchema],
    roots: ['roots/list', ListRootsRequestSchema],
};

/** What both have in common. */
class Peer {
    asked = [];
    errors = [];
    #told = [];
    #waiting = [];

    constructor(era, client, answers) {
        this.era = era;
        this.answers = answers;
        this.client = client;
        client.onerror = (error) => isOwnRace(error) || this.errors.push(error);
    }

    note(kind, params) {
        const waiting = this.#waiting.findIndex((one) => one.kind === kind && one.test(params));
        if (waiting >= 0) {
            this.#waiting.splice(waiting, 1)[0].done(params);
        } else {
            this.#told.push({ kind, params });
        }
    }

    /** The next notification of a kind that passes the test, one that has come before included. */
    told(kind, test = () => true) {
        const came = this.#told.findIndex((one) => one.kind === kind && test(one.params));
        if (came >= 0) {
            return this.#told.splice(came, 1)[0].params;
        }
        return within(new Promise((done) => this.#waiting.push({ kind, test, done })), `${kind} at the client`);
    }

    /** What has come of a kind that nobody has waited for. */
    unread(kind, test = () => true) {
        return this.#told.filter((one) => one.kind === kind && test(one.params)).map((one) => one.params);
    }

    answer(kind, params) {
        this.asked.push({ kind, params });
        const answer = this.answers[kind];
        if (!answer) {
            throw new Error(`nobody expected to be asked for ${kind}`);
        }
        return answer(params);
    }

    /** Call a tool; the text of its result. */
    async text(name, args) {
        const result = await this.call(name, args);
        if (result.isError) {
            throw new Error(result.content[0].text);
        }
        return result.content[0].text;
    }

    /** Every page of a list. */
    async list(kind) {
        const method = `list${kind[0].toUpperCase()}${kind.slice(1)}`;
        const all = [];
        let cursor;
        do {
            const page = await this.client[method](cursor === undefined ? {} : { cursor }, { cacheMode: 'refresh' });
            all.push(...page[kind]);
            cursor = page.nextCursor;
        } while (cursor !== undefined);
        return all;
    }

    async read(uri) {
        return (await this.client.readResource({ uri }, { cacheMode: 'refresh' })).contents;
    }

    close() {
        return this.client.close();
    }
}

export class LegacyPeer extends Peer {
    constructor(answers) {
        const capabilities = { sampling: {}, elicitation: BOTH_MODES, roots: { listChanged: true } };
        super('legacy', new LegacyClient(INFO, { capabilities }), answers);
        for (const [kind, [, schema]] of Object.entries(TOLD)) {
            this.client.setNotificationHandler(schema, ({ params }) => this.note(kind, params));
        }
        for (const [kind, [, schema]] of Object.entries(ASKED)) {
            this.client.setRequestHandler(schema, ({ params }) => this.answer(kind, params));
        }
    }

    connect(transport) {
        return within(this.client.connect(transport), 'the connection');
    }

    call(name, args = {}, options = {}, _meta = undefined) {
        return this.client.callTool({ name, arguments: args, ...(_meta && { _meta }) }, undefined, options);
    }

    /** Call a tool that may log at a level. */
    async callLogging(level, name, args) {
        await this.client.setLoggingLevel(level);
        return this.call(name, args);
    }

    /** Subscribe to a resource; the way to end it. */
    async subscribe(uri) {
        await this.client.subscribeResource({ uri });
        return () => this.client.unsubscribeResource({ uri });
    }
}

export class ModernPeer extends Peer {
    constructor(answers) {
        const capabilities = { sampling: {}, elicitation: BOTH_MODES, roots: {} };
        super('modern', new ModernClient(INFO, { capabilities, versionNegotiation: { mode: { pin: MODERN } } }), answers);
        for (const [kind, [method]] of Object.entries(TOLD)) {
            this.client.setNotificationHandler(method, ({ params }) => this.note(kind, params));
        }
        for (const [kind, [method]] of Object.entries(ASKED)) {
            this.client.setRequestHandler(method, ({ params }) => this.answer(kind, params));
        }
    }

    async connect(transport) {
        await within(this.client.connect(transport), 'the connection');
        const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
        this.listening = await within(this.client.listen(all), 'the acknowledgement');
    }

    call(name, args = {}, options = {}, _meta = undefined) {
        return this.client.callTool({ name, arguments: args, ...(_meta && { _meta }) }, options);
    }

    callLogging(level, name, args) {
        return this.call(name, args, {}, { [LOG_LEVEL]: level });
    }

    async subscribe(uri) {
        const subscription = await this.client.listen({ resourceSubscriptions: [uri] });
        return () => subscription.close();
    }

    async close() {
        await this.listening?.close();
        await super.close();
    }
}

export const CLIENTS = {
    'legacy stdio': { era: 'legacy', Peer: LegacyPeer, spawn: (start) => new StdioClientTransport(start) },
    'legacy HTTP': { era: 'legacy', Peer: LegacyPeer, open: (url) => new StreamableHTTPClientTransport(new URL(`${url}/mcp`)) },
    'modern stdio': { era: 'modern', Peer: ModernPeer, spawn: (start) => new ModernStdio(start) },
    'modern HTTP': { era: 'modern', Peer: ModernPeer, open: (url) => new ModernHttp(new URL(`${url}/mcp`)) },
    WebSocket: {
        era: 'legacy',
        Peer: LegacyPeer,
        open: (url) => new WebSocketClientTransport(new URL(`${url.replace('http', 'ws')}/ws`)),
    },
};
