import { GatewayError } from '../core/errors.ts'
import type { Exchange } from '../core/exchange.ts'
import type { PresentedCredential, RelayCall } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'
import { type CallPolicy, callProvider, retryAfterMs } from './call.ts'
import { HeaderForwarder, type HeaderRules } from './headers.ts'
import { KeyRing, type RingKey } from './key-ring.ts'
import type { ProviderParts } from './kind.ts'
import type { WeightedKey } from './options.ts'
import { Transport, type UpstreamRequest } from './transport.ts'
import { verbatimWire, type Wire } from './wire.ts'

/** How a provider is shown a credential. */
export interface CredentialForm {
  /** The headers that carry it, flat: name, value. */
  headers(credential: PresentedCredential): string[]
  /** A caller's own credential, if what the caller presented is one of this provider's. */
  ownOf(presented: PresentedCredential, headers: RelayCall['headers']): PresentedCredential | undefined
  /** The environment variable that holds the operator's, for messages. */
  readonly variable: string | undefined
}

/** What an upstream is made from. */
export interface UpstreamOptions {
  readonly name: string
  readonly baseUrl: string
  readonly keys: readonly WeightedKey[]
  readonly form: CredentialForm
  /** The address needs no credential, as one's own server may not. */
  readonly credentialOptional: boolean
  /** Which of a client's headers go on. */
  readonly headers: HeaderRules
  /** Headers of the operator's own, put over the rest. */
  readonly extraHeaders?: Readonly<Record<string, string>>
}

/** What a call needs of whom it is made for. */
export interface CallerFacts {
  readonly headers: RelayCall['headers']
  readonly credential: PresentedCredential
  readonly signal: AbortSignal
  readonly requestId: string
  /** What the calls of one conversation have in common; asked only when there are several credentials. */
  readonly conversation?: () => string
}

const LIMITED_REST_MS = 30_000
const REFUSED_REST_MS = 5 * 60_000
const LONGEST_REST_MS = 15 * 60_000
const CONVERSATION_BYTES = 1024
const VERBATIM = verbatimWire()

/** One address of a provider, with its connections, credentials and headers. */
export class Upstream {
  readonly name: string
  readonly configured: boolean
  readonly #options: UpstreamOptions
  readonly #ring: KeyRing
  readonly #transport: Transport
  readonly #forwarder: HeaderForwarder
  readonly #policy: CallPolicy
  readonly #passThrough: boolean
  readonly #extraHeaders: readonly string[]

  constructor(options: UpstreamOptions, { settings, passThrough, log, random, nowMs }: ProviderParts) {
    const { connections, timeouts, proxy, no_proxy, tries, reply_limit } = settings
    this.name = options.name
    this.configured = options.keys.length > 0
    this.#options = options
    this.#ring = new KeyRing(options.keys, nowMs)
    this.#transport = new Transport(options.baseUrl, { connections, timeouts, proxy, no_proxy })
    this.#forwarder = new HeaderForwarder(options.headers, settings.forward_headers)
    this.#policy = { provider: options.name, tries, replyLimitBytes: reply_limit, random, log }
    this.#passThrough = passThrough
    this.#extraHeaders = Object.entries(options.extraHeaders ?? {}).flat()
  }

  /** Whether it could be called for a caller with this credential. */
  isUsableBy(presented: PresentedCredential): boolean {
    if (this.configured || this.#options.credentialOptional) return true
    return this.#passThrough && this.#options.form.ownOf(presented, {}) !== undefined
  }

  /**
   * Calls the address: with the operator's keys, one after another while they are refused, or else with the caller's own.
   * Throws `upstream_error`, `authentication_error`, or the signal's reason.
   */
  async call(
    request: Omit<UpstreamRequest, 'headers'> & { headers?: readonly string[] },
    caller: CallerFacts,
    wire: Wire = VERBATIM,
  ): Promise<Reply> {
    const headers = [...this.#forwarder.forward(caller.headers), ...(request.headers ?? []), ...this.#extraHeaders]
    const send = (credential: readonly string[], waitsForLimit: boolean) =>
      callProvider(
        this.#transport,
        { ...request, headers: [...headers, ...credential] },
        { policy: this.#policy, signal: caller.signal, requestId: caller.requestId, wire, waitsForLimit },
      )
    if (this.#ring.size === 0) return send(this.#callersOwn(caller), true)
    const keys = this.#ring.order(caller.conversation ?? (() => caller.requestId))
    return this.#callWithKeys(keys, send)
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  async #callWithKeys(
    keys: readonly RingKey[],
    send: (credential: readonly string[], waitsForLimit: boolean) => Promise<Reply>,
  ): Promise<Reply> {
    for (let i = 0; ; i++) {
      const key = keys[i] as RingKey // safe: the loop ends with the last key, and there is one
      const isLast = i === keys.length - 1
      const reply = await send(this.#options.form.headers({ header: 'x-api-key', secret: key.secret }), isLast)
      if (reply.status !== 401 && reply.status !== 429) return reply
      this.#letRest(key, reply, i)
      if (isLast) return reply
    }
  }

  /** A key that is the only one cannot rest. */
  #letRest(key: RingKey, { status, headers }: Reply, index: number): void {
    if (this.#ring.size < 2) return
    const restMs = status === 401 ? REFUSED_REST_MS : (retryAfterMs(headers['retry-after']) ?? LIMITED_REST_MS)
    this.#ring.rest(key, Math.min(restMs, LONGEST_REST_MS))
    this.#policy.log.warn({ provider: this.name, status, restMs, nthTried: index + 1 }, 'provider_key.rested')
  }

  #callersOwn({ credential, headers }: CallerFacts): string[] {
    const { form, credentialOptional, name } = this.#options
    const own = this.#passThrough ? form.ownOf(credential, headers) : undefined
    if (own !== undefined) return form.headers(own)
    if (credentialOptional) return []
    const set = form.variable === undefined ? `give it an \`api_key\`` : `set ${form.variable}`
    throw new GatewayError(
      'authentication_error',
      `No credential for provider ${name}: ${set}, or send your own key in x-api-key, or try model \`demo/echo\`.`,
    )
  }
}

/** What a call needs of an exchange. */
export function callerOf(exchange: Exchange): CallerFacts {
  const { headers, credential, signal, id } = exchange
  return { headers, credential, signal, requestId: id, conversation: () => conversationOf(exchange) }
}

/** A session that the client names, else how its conversation begins. */
function conversationOf({ caller, headers, client }: Exchange): string {
  const session = headers['x-claude-code-session-id']
  if (typeof session === 'string') return `${caller.scope} ${session}`
  const beginning = client.document.raw('messages')?.toString('latin1', 0, CONVERSATION_BYTES)
  return `${caller.scope} ${beginning}`
}
