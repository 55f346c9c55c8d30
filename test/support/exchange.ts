import type { Caller } from '../../src/core/request/caller.ts'
import type { ClientRequest } from '../../src/core/request/client-request.ts'
import { Exchange, type Target } from '../../src/core/request/exchange.ts'
import type { ExchangeState } from '../../src/core/request/exchange-state.ts'
import { createChatDialect } from '../../src/dialects/chat/dialect.ts'
import { createMessagesDialect } from '../../src/dialects/messages/dialect.ts'
import { createResponsesDialect } from '../../src/dialects/responses/dialect.ts'

const OPTIONS = { defaultMaxTokens: 1000, nowMs: () => 0, modelNamed: (model: string) => model }
const DIALECTS = {
  chat: createChatDialect(OPTIONS),
  messages: createMessagesDialect(),
  responses: createResponsesDialect(OPTIONS),
}

/** Differences of a test's exchange from an empty one. */
export interface ExchangeParts {
  /** The client's body, exactly. */
  readonly body: string
  /** Default `chat`. */
  readonly dialect?: keyof typeof DIALECTS
  readonly targets?: readonly [Target, ...Target[]]
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  /** Default: a local one. */
  readonly caller?: Caller
}

const LOCAL: Caller = { kind: 'local', scope: 'local:a' }

/** Opens an exchange without a server: a client's body as the pipeline gets it. */
export function openExchange(parts: ExchangeParts): Exchange {
  const { body, dialect = 'chat', targets, signal, headers = {}, caller = LOCAL } = parts
  const client: ClientRequest = DIALECTS[dialect].parse(Buffer.from(body))
  const state: ExchangeState = {
    id: 'req_1',
    route: dialect,
    caller,
    credential: { header: 'authorization', secret: 'x' },
    headers,
    query: '',
    client,
    request: undefined,
    targets: targets ?? [{ provider: 'openai', model: client.document.model }],
    signal: signal ?? new AbortController().signal,
    reply: undefined,
    pipeline: 'none',
    trace: [],
    edits: [],
    calls: [],
    supersededReplies: [],
    stored: {},
  }
  return new Exchange(state)
}
