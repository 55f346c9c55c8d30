import type { ServerResponse } from 'node:http'
import { GatewayError } from '../core/errors.ts'
import type { Channel } from '../core/ports/channel.ts'
import type { Exchange } from '../core/request/exchange.ts'
import { connectPeers } from '../core/telemetry/peers.ts'
import { isAmong, type Scopes } from '../core/telemetry/telemetry.ts'
import { TransientMap } from '../core/transient-map.ts'
import { onClosed } from './client-disconnect.ts'

/** Requests of one process in a list, the oldest first. */
const MOST_LISTED = 200
const LONGEST_NAME = 300
const ENDED = 'ended'

/** A request whose reply has not ended. */
export interface InFlightRequest {
  readonly id: string
  readonly scope: string
  readonly keyId: string | null
  readonly userId: string | null
  readonly teamId: string | null
  readonly startedAtMs: number
  readonly route: string
  readonly isStream: boolean
  readonly model: string
  readonly pipeline: string
  /** `provider`: a provider was asked, and has not replied yet. */
  readonly state: 'modules' | 'provider' | 'reply'
  /** Tokens of the reply that the provider has reported so far. */
  readonly outputTokens: number | null
}

/** Requests in flight in all processes. */
export interface InFlight {
  /** Lists those of these scopes, the oldest first; a process that hangs is left out after a second. */
  list(scopes: Scopes): Promise<readonly InFlightRequest[]>
  /** Ends a request; resolves with `false` when it is over already. `words` are for its client. */
  end(id: string, words: string): Promise<boolean>
}

/** Handle of one request in flight. */
export class OpenRequest {
  readonly exchange: Exchange
  readonly startedAtMs = Date.now()
  readonly #disconnect: AbortController
  readonly #onEnd: (error: GatewayError) => void
  #endedBy: GatewayError | undefined
  /** Breaks the stream off that is being sent; unset before. */
  breakOff: ((message: string) => void) | undefined

  constructor(exchange: Exchange, disconnect: AbortController, onEnd: (error: GatewayError) => void) {
    this.exchange = exchange
    this.#disconnect = disconnect
    this.#onEnd = onEnd
  }

  /** Set once it was ended: the error that its client gets. */
  get endedBy(): GatewayError | undefined {
    return this.#endedBy
  }

  /** Ends it: its provider's call is aborted, and its client gets an error. */
  end(words: string): void {
    if (this.#endedBy !== undefined) return
    const error = new GatewayError('permission_error', words, { detail: 'request_ended' })
    this.#endedBy = error
    this.#onEnd(error)
    this.breakOff?.(error.message)
    this.#disconnect.abort(error)
  }
}

/** Requests in flight in this process; bounded by its connections. */
export class RequestsInFlight {
  readonly #open = new TransientMap<OpenRequest>()

  /** Adds a request until its response has closed. */
  enter(request: OpenRequest, response: ServerResponse): void {
    const { id } = request.exchange
    this.#open.set(id, request)
    onClosed(response, () => this.#open.delete(id))
  }

  list(scopes: Scopes): InFlightRequest[] {
    const found: InFlightRequest[] = []
    for (const request of this.#open.values()) {
      if (found.length >= MOST_LISTED) break
      if (request.endedBy === undefined && isAmong(request.exchange.caller.scope, scopes)) found.push(shown(request))
    }
    return found
  }

  end(id: string, words: string): boolean {
    const request = this.#open.get(id)
    request?.end(words)
    return request !== undefined
  }
}

function shown({ exchange, startedAtMs }: OpenRequest): InFlightRequest {
  const { id, caller, route, wantsStream, target, pipeline, isAsked, reply, usage } = exchange
  return {
    id,
    scope: caller.scope,
    keyId: caller.keyId ?? null,
    userId: caller.userId ?? null,
    teamId: caller.teamId ?? null,
    startedAtMs,
    route,
    isStream: wantsStream,
    model: `${target.provider}/${target.model}`.slice(0, LONGEST_NAME),
    pipeline: pipeline.slice(0, LONGEST_NAME),
    state: reply !== undefined ? 'reply' : isAsked ? 'provider' : 'modules',
    outputTokens: usage?.outputTokens ?? null,
  }
}

type Question = { readonly list: Scopes } | { readonly end: string; readonly words: string }

/** Joins the requests of this process and of the others on the channel. */
export function createInFlight(own: RequestsInFlight, channel: Channel | undefined): InFlight {
  const ask =
    channel &&
    connectPeers({
      channel,
      topic: 'in-flight',
      async answer(text) {
        const question = JSON.parse(text) as Question // safe: other processes run the same code
        if ('list' in question) return JSON.stringify(own.list(question.list))
        return own.end(question.end, question.words) ? ENDED : ''
      },
    })
  const others = async (question: Question, isEnough?: (text: string) => boolean) =>
    (await ask?.(JSON.stringify(question), isEnough)) ?? []
  return {
    async list(scopes) {
      const lists = (await others({ list: scopes })).map((text) => JSON.parse(text) as InFlightRequest[]) // safe: as above
      return [...own.list(scopes), ...lists.flat()].toSorted((a, b) => a.startedAtMs - b.startedAtMs)
    },
    async end(id, words) {
      const isEnded = (text: string) => text === ENDED
      return own.end(id, words) || (await others({ end: id, words }, isEnded)).some(isEnded)
    },
  }
}
