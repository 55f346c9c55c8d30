/** The entry point `turnpike/plugin/test`: runs a plugin on one request, without a gateway. */
import type { z } from 'zod'
import type { Reply } from '../core/reply/reply.ts'
import { Exchange } from '../core/request/exchange.ts'
import type { StepTrace } from '../core/telemetry/traces.ts'
import { createChatDialect } from '../dialects/chat/dialect.ts'
import { createMessagesDialect } from '../dialects/messages/dialect.ts'
import type { PluginContext, PluginDefinition, PluginServices, ServiceName } from './contract.ts'
import { type ReceivedReply, received, replyWith } from './testing/answer.ts'
import { type LogLine, servicesFor } from './testing/services.ts'

/** One request, and the answer that it would get. */
interface PluginRun<Schema extends z.ZodType> {
  /** Options of the plugin. Default: its defaults. */
  readonly options?: z.input<Schema>
  /** Members of the request's body. Default: a model, a limit and a message `Hello`. */
  readonly body?: Readonly<Record<string, unknown>>
  /** Dialect of the client, and of its provider. Default: `messages`. */
  readonly dialect?: 'messages' | 'chat'
  /** Headers of the request, in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Reply of the model: a text, or blocks in the Messages shape. With `stream: true` in the body it comes as a stream,
   * a character an event. An error is what `next()` rejects with. Default: `Hello!`
   */
  readonly answer?: string | readonly object[] | Error
  /** Services in the place of those of the test: a recording log, a fixed clock, stores in memory. */
  readonly services?: Partial<PluginServices>
}

/** Effects of a plugin on a request and its reply. */
interface PluginRunResult {
  /** The request in the Messages shape, parsed, with the plugin's edits. */
  readonly request: unknown
  /** True if `next()` was called. */
  readonly wentOn: boolean
  /** Headers that the plugin has set with `ctx.set`. */
  readonly headers: Readonly<Record<string, string>>
  /** The last `exchange.note` or `exchange.idle`; `ran` without one. */
  readonly action: string
  /** Details and figures, as the row of the request has them. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly log: readonly LogLine[]
  /** The reply as the client has read it to its end; `undefined` where there is none. */
  readonly reply: ReceivedReply | undefined
}

const BODY = { model: 'test-model', max_tokens: 1000, messages: [{ role: 'user', content: 'Hello' }] }
const DIALECTS = {
  messages: createMessagesDialect(),
  chat: createChatDialect({ defaultMaxTokens: 1000, modelNamed: (name) => name, nowMs: () => 0 }),
}

/**
 * Sets a plugin up, runs its middleware on one request, reads the reply to its end, and closes the plugin. Throws for
 * options that its schema refuses, and what the plugin throws.
 */
export async function runPlugin<Schema extends z.ZodType, Needs extends ServiceName>(
  plugin: PluginDefinition<Schema, Needs>,
  { options, answer = 'Hello!', services = {}, ...request }: PluginRun<Schema> = {},
): Promise<PluginRunResult> {
  const log: LogLine[] = []
  const parsed = plugin.options.parse(options ?? {})
  const instance = await plugin.setup(parsed, servicesFor(plugin.needs, services, log))
  const trace: StepTrace = { module: plugin.name, action: 'ran', durationMs: 0 }
  const { exchange, answered } = openExchange(request, plugin.name)
  const headers: Record<string, string> = {}
  const set = (name: string, value: string) => {
    headers[name.toLowerCase()] = value
  }
  const step = exchange.forStep(trace)
  let calls = 0
  const next = async () => {
    if (++calls > 1) throw new Error('the plugin called next() twice')
    if (answer instanceof Error) throw answer
    exchange.reply = answered(answer)
  }
  try {
    // A context with the members that plugins use.
    await instance.middleware(parsed)({ state: { exchange: step }, set, headers: {} } as unknown as PluginContext, next)
    const reply = exchange.reply && (await received(exchange.reply))
    return {
      request: JSON.parse(exchange.request.bytes.toString()),
      wentOn: calls > 0,
      headers,
      action: trace.action,
      details: trace.figures === undefined ? trace.details : { ...trace.details, ...trace.figures },
      log,
      reply,
    }
  } finally {
    await instance.close?.()
  }
}

function openExchange(
  { body, dialect: name = 'messages', headers = {} }: Omit<PluginRun<z.ZodType>, 'options' | 'answer' | 'services'>,
  pipeline: string,
): { exchange: Exchange; answered: (answer: string | readonly object[]) => Reply } {
  const dialect = DIALECTS[name]
  const client = dialect.parse(Buffer.from(JSON.stringify({ ...BODY, ...body })))
  const target = { provider: name === 'chat' ? 'openai' : 'anthropic', model: client.document.model }
  const exchange = new Exchange({
    id: 'req_test',
    route: name,
    caller: { kind: 'local', scope: 'local:test' },
    credential: undefined,
    headers,
    query: '',
    client,
    request: undefined,
    targets: [target],
    signal: new AbortController().signal,
    reply: undefined,
    pipeline,
    trace: [],
    edits: [],
    calls: [],
    supersededReplies: [],
    stored: {},
  })
  return { exchange, answered: (answer) => replyWith(answer, client, dialect) }
}
