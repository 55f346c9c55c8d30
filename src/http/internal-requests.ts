import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import Koa from 'koa'
import { GatewayError } from '../core/errors.ts'
import { tryParseJson } from '../core/json/json-value.ts'
import { answererOf, type Prices } from '../core/money/prices.ts'
import type { Clock } from '../core/ports/clock.ts'
import { OPERATOR } from '../core/ports/provider.ts'
import { Exchange, type Target } from '../core/request/exchange.ts'
import type { ClientDialect } from '../dialects/client-dialect.ts'
import type { PipelineContext } from '../pipeline/context.ts'
import type { Pipelines } from '../pipeline/pipelines.ts'
import type { ModelAnswer, ModelClient, ModelQuestion } from '../plugin/contract.ts'
import { createRequestId } from './request-id.ts'

/** Dependencies of the gateway's internal requests. */
export interface InternalRequestParts {
  readonly pipelines: Pick<Pipelines, 'own'>
  readonly dialect: ClientDialect
  readonly providers: { targetsOf(model: string): readonly [Target, ...Target[]] }
  readonly prices: Pick<Prices, 'price'>
  readonly clock: Clock
}

/** Headers of a client in the canonical dialect; the body is forwarded unchanged, and the provider adds a version. */
const HEADERS = { 'content-type': 'application/json' }

/**
 * DESIGN — internal requests
 *
 * A plugin calls a model through a pipeline, as a client would, but without a socket: under a scope of its own, so that
 * caps of that pipeline count its spend alone, and without the operator's locked steps, so that a cache that calls a
 * model does not run inside its own request. Plugins are set up before pipelines exist; calls fail until `open`.
 */
export class InternalRequests {
  #parts: InternalRequestParts | undefined
  /** Creates contexts; never listens. */
  readonly #koa = new Koa()

  open(parts: InternalRequestParts): void {
    this.#parts = parts
  }

  /** Returns the model client of a plugin. */
  forPlugin(plugin: string): ModelClient {
    return { ask: (body, question) => this.#ask(body, { ...question, scope: `plugin:${plugin}` }) }
  }

  async #ask(body: object, { pipeline: text, signal, scope }: ModelQuestion & { scope: string }): Promise<ModelAnswer> {
    const parts = this.#parts
    if (parts === undefined) throw new GatewayError('service_unavailable', 'The gateway is still starting.')
    signal.throwIfAborted()
    const pipeline = parts.pipelines.own(text)
    const client = parts.dialect.parse(Buffer.from(JSON.stringify({ ...body, stream: false })))
    const exchange = new Exchange({
      id: createRequestId(),
      route: 'messages',
      caller: { kind: 'local', scope },
      credential: OPERATOR,
      headers: HEADERS,
      query: '',
      client,
      request: undefined,
      targets: parts.providers.targetsOf(client.document.model),
      signal,
      reply: undefined,
      pipeline: pipeline.printed,
      trace: [],
      edits: [],
      calls: [],
      supersededReplies: [],
      stored: {},
    })
    const atMs = parts.clock.nowMs()
    try {
      await pipeline.run(this.#contextOf(exchange))
    } finally {
      exchange.close()
      exchange.cancelUnopened()
    }
    return answerOf(exchange, { ...parts, atMs })
  }

  #contextOf(exchange: Exchange): PipelineContext {
    const request = new IncomingMessage(new Socket())
    const ctx = this.#koa.createContext(request, new ServerResponse(request))
    ctx.state.exchange = exchange
    // Safe: set just above.
    return ctx as unknown as PipelineContext
  }
}

/** Parses the reply as a message. Throws `upstream_error` for anything else. */
function answerOf(
  exchange: Exchange,
  { prices, atMs }: Pick<InternalRequestParts, 'prices'> & { atMs: number },
): ModelAnswer {
  const { reply, target } = exchange
  if (reply?.kind !== 'bytes' || reply.status !== 200) {
    const got = reply?.kind === 'bytes' ? `status ${reply.status}` : 'no whole reply'
    throw new GatewayError('upstream_error', `The model ${target.model} gave ${got}.`)
  }
  const answered = answererOf(exchange)
  const { usage } = reply
  const isBilled = usage !== undefined && answered !== undefined
  // The price book includes nested calls, such as an advisor's.
  const costNanoUsd = isBilled ? prices.price(answered, usage, atMs).costNanoUsd : 0
  return { message: tryParseJson(reply.bytes), costNanoUsd }
}
