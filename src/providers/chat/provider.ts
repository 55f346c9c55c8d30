import { GatewayError } from '../../core/errors.ts'
import type { ListedModel, Provider, RelayCall } from '../../core/ports/provider.ts'
import type { TokenCounter } from '../../core/ports/token-counter.ts'
import { jsonReply, type Reply, StreamReply } from '../../core/reply/reply.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { CHAT_REPLIES } from '../../dialects/chat/replies.ts'
import { toMessagesError } from '../../dialects/chat/reply/errors.ts'
import { createMessagesEvents } from '../../dialects/chat/reply/to-messages-events.ts'
import { toMessagesReply } from '../../dialects/chat/reply/to-messages-reply.ts'
import { type ChatHabits, toChatRequest } from '../../dialects/chat/to-chat-request.ts'
import { RESPONSES_REPLIES } from '../../dialects/responses/replies.ts'
import { createMessagesEvents as createEventsOfResponse } from '../../dialects/responses/reply/to-messages-events.ts'
import { toMessagesReply as toMessageOfResponse } from '../../dialects/responses/reply/to-messages-reply.ts'
import { compactingOf } from '../../dialects/responses/responses-request.ts'
import { toResponsesRequest } from '../../dialects/responses/to-responses-request.ts'
import { addDroppedFields } from '../dropped-fields-header.ts'
import { pathOfModel, readModel, readModelList } from '../model-list.ts'
import { nativeResponsesRequest } from '../responses/native.ts'
import { completeTranslated, type Translation } from '../translation.ts'
import { callerOf, type Upstream } from '../upstream.ts'
import { UpstreamProvider } from '../upstream-provider.ts'
import { verbatimWire, type Wire } from '../wire.ts'
import { nativeChatRequest } from './native.ts'
import { requestedEffort } from './requested-effort.ts'
import { withoutUsageChunk } from './usage-filter.ts'

/** Options of a provider of chat completions. */
export interface ChatProviderOptions {
  readonly upstream: Upstream
  /** The API to use: Responses for every client, or chat completions. */
  readonly api: ChatApi
  readonly habits: ChatHabits
  /** Compacts conversations itself, where its API is Responses; otherwise its model summarises them. Default: true. */
  readonly compacts?: boolean
  readonly tokens: TokenCounter
  /** Model names that select this provider without a prefix. */
  readonly models: RegExp | undefined
}

/** APIs of a provider of OpenAI's shapes. */
export type ChatApi = 'chat' | 'responses'

const NATIVE = verbatimWire(CHAT_REPLIES)
const NATIVE_RESPONSES = verbatimWire(RESPONSES_REPLIES)
const NATIVE_WITHOUT_USAGE: Wire = {
  ...NATIVE,
  stream: (head, source) =>
    new StreamReply({ ...head, isWhole: true, dialect: CHAT_REPLIES }, withoutUsageChunk(source)),
}
const PATH = '/chat/completions'
const RESPONSES_PATH = '/responses'
/** Matches the path of a stored response, which may be sent as events. */
const STORED = /^\/v1\/responses\//
const COMPACT_PATH = '/responses/compact'
const BAD_REQUEST = 400
/** Statuses of a path that a service does not have. */
const NO_PATH: ReadonlySet<number> = new Set([404, 405, 501])

/** Translation to chat completions, with a provider's habits. */
function chatTranslation(habits: ChatHabits): Translation {
  return {
    toWire(request, exchange, { model }) {
      const { bytes, droppedFields } = toChatRequest(request, {
        model,
        habits,
        assumed: exchange.assumed,
        requestedEffort: requestedEffort(exchange),
      })
      return { path: PATH, bytes, droppedFields }
    },
    fromWire: (named) => ({
      toMessage: (body) => toMessagesReply(body, named),
      toError: toMessagesError,
      createTranslator: () => createMessagesEvents(named),
    }),
  }
}

/** Translation to Responses, with a provider's habits. */
function responsesTranslation(habits: ChatHabits): Translation {
  return {
    toWire(request, exchange, { model }) {
      const { bytes, droppedFields } = toResponsesRequest(request, {
        model,
        habits,
        assumed: exchange.assumed,
        requestedEffort: requestedEffort(exchange),
      })
      return { path: RESPONSES_PATH, bytes, droppedFields }
    },
    fromWire: (named) => ({
      toMessage: (body) => toMessageOfResponse(body, named),
      toError: toMessagesError,
      createTranslator: () => createEventsOfResponse(named),
    }),
  }
}

/** A provider of OpenAI's chat completions or Responses; its address is the prefix of `/chat/completions`. */
export class ChatProvider extends UpstreamProvider implements Provider {
  readonly #options: Omit<ChatProviderOptions, 'upstream'>
  readonly #translation: Translation

  constructor({ upstream, compacts = true, ...options }: ChatProviderOptions) {
    super(upstream)
    this.#options = { ...options, compacts }
    const { api, habits } = options
    this.#translation = api === 'chat' ? chatTranslation(habits) : responsesTranslation(habits)
  }

  get storesResponses(): boolean {
    return this.#options.api === 'responses'
  }

  claims(model: string): boolean {
    return this.#options.models?.test(model) ?? false
  }

  complete(exchange: Exchange, target: Target): Promise<Reply> {
    const { api } = this.#options
    if (exchange.dialect.name === api)
      return api === 'chat' ? this.#completeNatively(exchange, target) : this.#respondNatively(exchange, target)
    return this.#completeTranslated(exchange, target)
  }

  /** Estimates the tokens: these services cannot count them without generating a reply. */
  async countTokens({ body }: RelayCall, { model }: Target): Promise<Reply> {
    const request = new RequestDocument(body ?? Buffer.from('{}'))
    if (request.shape.messages.length === 0) {
      throw new GatewayError('invalid_request', 'messages: expected an array of one message or more.')
    }
    const tokens = this.#options.tokens.inputTokens(request, model)
    return jsonReply({ input_tokens: tokens }, { headers: { 'x-svc-estimated': 'true' } })
  }

  async listModels(caller: RelayCall): Promise<readonly ListedModel[]> {
    const reply = await this.upstream.call({ method: 'GET', path: '/models', body: undefined }, caller)
    return readModelList(reply, this.name)
  }

  async findModel(id: string, caller: RelayCall): Promise<ListedModel | undefined> {
    const path = pathOfModel(id)
    if (path === undefined) return undefined
    return readModel(await this.upstream.call({ method: 'GET', path, body: undefined }, caller), this.name)
  }

  override relay({ method, path, query, body, ...caller }: RelayCall): Promise<Reply> {
    // The address includes the version.
    const call = { method, path: path.replace(/^\/v1/, '') + query, body }
    return this.upstream.call(call, caller, STORED.test(path) ? NATIVE_RESPONSES : undefined)
  }

  #completeTranslated(exchange: Exchange, target: Target): Promise<Reply> {
    return completeTranslated(exchange, target, { upstream: this.upstream, translation: this.#translation })
  }

  async #respondNatively(exchange: Exchange, target: Target): Promise<Reply> {
    const { kind } = compactingOf(exchange.client)
    const hasCompaction = this.#options.compacts && !(kind === 'window' && isLimited(exchange))
    if (kind !== undefined && !hasCompaction) return this.#completeTranslated(exchange, target)
    const { bytes, droppedFields } = nativeResponsesRequest(exchange, target, this.#options.habits)
    const path = (kind === 'window' ? COMPACT_PATH : RESPONSES_PATH) + exchange.query
    const reply = await this.upstream.call({ method: 'POST', path, body: bytes }, callerOf(exchange), NATIVE_RESPONSES)
    if (kind === undefined || !knowsNoCompaction(reply)) return addDroppedFields(reply, droppedFields)
    reply.cancel()
    return this.#completeTranslated(exchange, target)
  }

  async #completeNatively(exchange: Exchange, target: Target): Promise<Reply> {
    const { habits } = this.#options
    const { bytes, droppedFields, asksUsage } = nativeChatRequest(exchange, target, habits)
    const reply = await this.upstream.call(
      { method: 'POST', path: PATH + exchange.query, body: bytes },
      callerOf(exchange),
      asksUsage ? NATIVE_WITHOUT_USAGE : NATIVE,
    )
    return droppedFields === undefined ? reply : addDroppedFields(reply, droppedFields)
  }
}

/** Returns true if a plugin has lowered the output limit, which the path of compactions does not take. */
function isLimited({ request, client }: Exchange): boolean {
  return request.maxTokens < client.canonical.maxTokens
}

/** Returns true for a refusal because the service has no compaction: neither its path nor its item. Nothing is billed for it. */
function knowsNoCompaction(reply: Reply): boolean {
  if (NO_PATH.has(reply.status)) return true
  return reply.kind === 'bytes' && reply.status === BAD_REQUEST && reply.bytes.includes('compaction_trigger')
}
