import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError, messageOf } from '../../core/errors.ts'
import { isObject, type JsonObject } from '../../core/json/json-value.ts'
import { answererOf } from '../../core/money/prices.ts'
import type { Log } from '../../core/ports/log.ts'
import type { Provider } from '../../core/ports/provider.ts'
import type { StoredResponse, StoredResponses } from '../../core/ports/stored-responses.ts'
import type { Reply } from '../../core/reply/reply.ts'
import type { Caller } from '../../core/request/caller.ts'
import type { ClientRequest } from '../../core/request/client-request.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { ContinuedResponse } from '../../core/request/stored-context.ts'
import { TransientMap } from '../../core/transient-map.ts'
import type { ResponsesDialect } from '../../dialects/responses/dialect.ts'
import { printConversation, readConversation } from '../../dialects/responses/state/continued-request.ts'
import { type BodyIntake, tooMuchAtOnce } from '../body-intake.ts'
import type { ReplyWatch } from '../reply-watch.ts'
import { watchResponse } from './watch-response.ts'

/**
 * DESIGN: responses that outlive their request
 *
 *   reply ──► id, usage ──► stored: the caller's scope, the provider and the credential that made it, its tokens;
 *                           its conversation too where the provider stores none and `responses.keep` is on
 *   previous_response_id ──► the caller's own? ──► its provider and credential alone, held for its tokens
 *                                              └─► or the stored conversation before the request's own input
 *
 * Guarantees: a caller finds its own responses alone, and an id of another caller is answered as an unknown one. A response
 * is continued by the provider and the credential that made it, never by others. Nothing is stored for `store: false`.
 * Limits: time to live, responses of a caller, bytes of all (`config/responses.ts`). The response is stored while its last
 * event is sent: a failure to store it shows when it is continued, and another instance searches for it for a second.
 */

/** Dependencies of `ResponseStates`. */
export interface ResponseStatesOptions {
  readonly responses: StoredResponses
  readonly dialect: ResponsesDialect
  readonly provider: (name: string) => Pick<Provider, 'storesResponses'>
  /** True if the gateway stores conversations for providers that store none. */
  readonly keeps: boolean
  /** Counts bytes of a caller in the budget of request bodies. */
  readonly count: BodyIntake['count']
  /** Largest stored conversation. */
  readonly mostBytes: number
  readonly log: Log
}

/** A request, its targets, and the stored response that a provider adds to it. */
export interface Resumed {
  readonly client: ClientRequest
  readonly targets: readonly [Target, ...Target[]]
  readonly continued?: ContinuedResponse
  /** Id of the conversation that the request continues. */
  readonly conversation?: string | undefined
}

/** The code on which clients send the whole conversation. */
const NOT_FOUND_CODE = 'previous_response_not_found'
const ID = /^[\w-]{1,200}$/
/** Waits for another instance that is storing a response which its client has already. */
const WAITS_MS = [50, 200, 750]

/** Stored responses of this process's callers. */
export class ResponseStates {
  readonly #options: ResponseStatesOptions
  /** Responses whose storing has not ended, by scope and id. */
  readonly #pending = new TransientMap<Promise<void>>()

  constructor(options: ResponseStatesOptions) {
    this.#options = options
  }

  /**
   * Resolves `previous_response_id` of a request. Throws `not_found` for a response that the caller has not made,
   * `invalid_request` where nothing stores responses, or another provider has it.
   */
  async resume(request: Resumed, { scope }: Pick<Caller, 'scope'>): Promise<Resumed> {
    const { client, targets } = request
    const id = client.document.field('previous_response_id')
    if (id === undefined || id === null) return request
    if (typeof id !== 'string') throw invalid('expected a string')
    const { keeps, dialect, provider } = this.#options
    const stored = await this.find(scope, id)
    if (stored === undefined) {
      const isKept = keeps || targets.some((target) => provider(target.provider).storesResponses)
      if (!isKept) throw invalid(NOT_KEPT, NOT_FOUND_CODE)
      throw responseNotFound('previous_response_id')
    }
    if (stored.content !== null) {
      const conversation = readConversation(stored.content)
      if (conversation === undefined) throw responseNotFound('previous_response_id')
      return {
        ...request,
        client: dialect.resume(client, conversation, scope),
        conversation: stored.conversation ?? undefined,
      }
    }
    const [first, ...others] = targets.filter((target) => target.provider === stored.provider)
    if (first === undefined)
      throw invalid(
        `the response is stored by provider ${stored.provider}, which model ${client.document.model} is not of`,
      )
    return {
      client,
      targets: [first, ...others],
      continued: { account: stored.account, tokens: stored.tokens },
      conversation: stored.conversation ?? undefined,
    }
  }

  /** Returns the caller's response; `undefined` for any other id. Throws `service_unavailable`. */
  async find(scope: string, id: string): Promise<StoredResponse | undefined> {
    if (!ID.test(id)) return undefined
    await this.#pending.get(`${scope} ${id}`)
    for (const waitMs of WAITS_MS) {
      const stored = await this.#read(scope, id)
      if (stored !== undefined) return stored
      await sleep(waitMs)
    }
    return this.#read(scope, id)
  }

  /** Reads a response; its content counts meanwhile like a body that arrives. */
  async #read(scope: string, id: string): Promise<StoredResponse | undefined> {
    const { responses, keeps, count } = this.#options
    const bytes = keeps ? await responses.contentBytes(scope, id) : 0
    if (bytes === 0) return responses.find(scope, id)
    let isDropped = false
    const counted = count(scope, () => {
      isDropped = true
    })
    counted.add(bytes)
    try {
      const stored = isDropped ? undefined : await responses.find(scope, id)
      if (isDropped) throw tooMuchAtOnce()
      return stored
    } finally {
      counted.end()
    }
  }

  delete(scope: string, id: string): Promise<void> {
    return this.#options.responses.delete(scope, id)
  }

  /** Returns a watch that stores the conversation of a request, as its client gets it; `undefined` when none is stored. */
  watch(exchange: Exchange): ReplyWatch | undefined {
    // As it came: texts that a plugin has mapped are mapped again when the conversation is continued.
    const { reply, received: client } = exchange
    if (!isStorable(exchange) || reply?.status !== 200 || reply.dialect.name === 'responses') return undefined
    if (!this.#options.keeps) return undefined
    const provider = (answererOf(exchange) ?? exchange.target).provider
    return watchResponse((response) =>
      this.#keep(exchange, response, { provider, account: '', content: printConversation(client.document, response) }),
    )
  }

  /**
   * Stores the response of a provider that stores it, when it comes: its client may have left by then, while others still read
   * the same reply.
   */
  watchProviders(exchange: Exchange, reply: Reply): void {
    if (!isStorable(exchange) || reply.status !== 200 || reply.dialect.name !== 'responses') return
    const provider = (answererOf(exchange) ?? exchange.target).provider
    const keep = (response: JsonObject) =>
      this.#keep(exchange, response, { provider, account: exchange.stored.account ?? '', content: null })
    const watch = watchResponse(keep, { outlives: exchange.client.document.field('background') === true })
    if (reply.kind === 'bytes') watch.body(reply.bytes)
    else reply.onPortion((portion) => watch.portion(portion))
  }

  /** Returns a watch that stores the tokens of a response which was stored before it had ended, when its client reads it. */
  watchRead(stored: StoredResponse): ReplyWatch | undefined {
    if (stored.tokens !== null || stored.content !== null) return undefined
    return watchResponse((response) => {
      const tokens = response.id === stored.id ? totalTokensOf(response) : null
      if (tokens !== null) this.#store({ ...stored, tokens })
    })
  }

  #keep(
    { caller: { scope }, conversation }: Exchange,
    response: JsonObject,
    of: Pick<StoredResponse, 'provider' | 'account' | 'content'>,
  ) {
    const { id } = response
    if (typeof id !== 'string' || !ID.test(id) || response.store === false) return
    this.#store({ ...of, scope, id, tokens: totalTokensOf(response), conversation: conversation.id })
  }

  #store(stored: StoredResponse): void {
    const { responses, mostBytes, log } = this.#options
    const { provider, content } = stored
    const bytes = content === null ? 0 : Buffer.byteLength(content)
    if (bytes > mostBytes) {
      log.warn({ provider, bytes, mostBytes }, 'response.too-large-to-store')
      return
    }
    const key = `${stored.scope} ${stored.id}`
    const put = responses
      .put(stored)
      .catch((error: unknown) => {
        log.warn({ provider, reason: messageOf(error) }, 'response.not-stored')
      })
      .finally(() => {
        if (this.#pending.get(key) === put) this.#pending.delete(key)
      })
    this.#pending.set(key, put)
  }
}

/** Returns true for a request whose response may be stored. */
function isStorable({ dialect, client }: Exchange): boolean {
  return dialect.name === 'responses' && client.document.field('store') !== false
}

/** Builds the error for an id that is not of a response of the caller. */
export function responseNotFound(param: string | null): GatewayError {
  return new GatewayError('not_found', 'This caller has no stored response with this id.', {
    fields: { code: NOT_FOUND_CODE, param },
  })
}

const NOT_KEPT =
  'this provider stores no responses; send the whole conversation as `input`, or have the operator set `responses.keep`'

function invalid(why: string, code?: string): GatewayError {
  const fields = code === undefined ? {} : { code, param: 'previous_response_id' }
  return new GatewayError('invalid_request', `previous_response_id: ${why}.`, { fields })
}

function totalTokensOf({ usage }: JsonObject): number | null {
  if (!isObject(usage)) return null
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage
  const sum = Math.max(Number(total ?? 0), Number(input) + Number(output))
  return Number.isSafeInteger(sum) && sum >= 0 ? sum : null
}
