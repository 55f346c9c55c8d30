import { hash } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'
import { OPERATOR, type PresentedCredential, type RelayCall } from '../core/ports/provider.ts'
import type { Reply } from '../core/reply/reply.ts'
import type { Exchange } from '../core/request/exchange.ts'
import { traceparentFor } from '../core/telemetry/trace-context.ts'
import { type CallPolicy, callProvider } from './call.ts'
import { retryAfterMs } from './failed-reply.ts'
import { HeaderForwarder, type HeaderRules, mergeHeaders } from './headers.ts'
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
  /** Requests carry a credential of the operator's that is not among `keys`: a signature, a token of the moment. */
  readonly isSigned?: boolean
  /** Which of a client's headers go on. */
  readonly headers: HeaderRules
  /** Headers of the operator's own; they replace those of the same name. */
  readonly extraHeaders?: Readonly<Record<string, string>>
}

/** What a call needs of whom it is made for. */
export interface CallerFacts {
  /** The caller's scope, by which connections are shared. */
  readonly scope: string
  readonly headers: RelayCall['headers']
  readonly credential: PresentedCredential | undefined
  readonly signal: AbortSignal
  readonly requestId: string
  /** What the calls of one conversation have in common; asked only when there are several credentials. */
  readonly conversation?: () => string
}

/** An error's message is worth no longer wait. */
const LONGEST_ERROR_BODY_MS = 5000
const LIMITED_REST_MS = 30_000
const REFUSED_REST_MS = 5 * 60_000
const LONGEST_REST_MS = 15 * 60_000
const CONVERSATION_BYTES = 1024
const VERBATIM = verbatimWire()
/** Headers that carry credentials, by their names: `authorization`, `api-key`, `x-auth-token`, … */
const CREDENTIAL_NAME = /auth|key|token|secret/i

/** How one credential is used. */
interface Sending {
  /** The credential is the caller's, not the operator's. */
  readonly isCallersOwn: boolean
  readonly waitsForLimit: boolean
}

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
  readonly #isShared: boolean
  readonly #isTraced: boolean
  readonly #extraHeaders: readonly string[]
  readonly #hasFixedCredential: boolean

  constructor(
    options: UpstreamOptions,
    { settings, passThrough, isShared, isTraced = false, log, random, nowMs }: ProviderParts,
  ) {
    const { connections, timeouts, proxy, no_proxy, tries, reply_limit } = settings
    this.name = options.name
    this.configured = options.keys.length > 0
    this.#options = options
    this.#ring = new KeyRing(options.keys, nowMs)
    this.#transport = new Transport(options.baseUrl, {
      provider: options.name,
      connections,
      timeouts,
      proxy,
      no_proxy,
    })
    this.#forwarder = new HeaderForwarder(options.headers, settings.forward_headers)
    this.#policy = {
      provider: options.name,
      tries,
      replyLimitBytes: reply_limit,
      bodyTimeoutMs: timeouts.first_byte,
      errorBodyTimeoutMs: Math.min(LONGEST_ERROR_BODY_MS, timeouts.idle),
      random,
      log,
    }
    this.#passThrough = passThrough
    this.#isShared = isShared
    this.#isTraced = isTraced
    this.#extraHeaders = Object.entries(options.extraHeaders ?? {}).flat()
    this.#hasFixedCredential = Object.keys(options.extraHeaders ?? {}).some((name) => CREDENTIAL_NAME.test(name))
  }

  /** Whether it could be called for a caller with this credential. */
  isUsableBy(presented: PresentedCredential | undefined): boolean {
    if (this.#isBroughtFor(presented)) return true
    if (this.#usesOperators) return this.#isPaidFor(presented)
    return this.#options.credentialOptional || this.#passedThrough(presented, {}) !== undefined
  }

  /** See `Provider.callerParts`. */
  callerParts(presented: PresentedCredential | undefined, headers: RelayCall['headers']): string {
    const own = this.#ownOf(presented, headers)
    const account = own === undefined ? '' : hash('sha256', own.secret, 'base64url')
    return account + this.#forwarder.extras(headers)
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
    const trace = this.#isTraced ? ['traceparent', traceparentFor(caller.requestId, caller.headers)] : []
    const send = (credential: readonly string[], { isCallersOwn, waitsForLimit }: Sending) => {
      const forwarded = this.#forwarder.forward(caller.headers, { isCallersOwn })
      const headers = mergeHeaders(forwarded, request.headers ?? [], trace, credential, this.#extraHeaders)
      const options = { ...caller, policy: this.#policy, wire, waitsForLimit }
      return callProvider(this.#transport, { ...request, headers }, options)
    }
    if (this.#isBroughtFor(caller.credential))
      return send(this.#headersOf(caller.credential), { isCallersOwn: true, waitsForLimit: true })
    if (this.#usesOperators && !this.#isPaidFor(caller.credential))
      throw this.#noCredential('send your own key in x-provider-key')
    if (this.#ring.size > 0) {
      const keys = this.#ring.order(caller.conversation ?? (() => caller.requestId))
      return this.#callWithKeys(keys, (key, waitsForLimit) => send(key, { isCallersOwn: false, waitsForLimit }))
    }
    const own = this.#callersOwn(caller)
    return send(own, { isCallersOwn: own.length > 0 && !this.#hasFixedCredential, waitsForLimit: true })
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
      const reply = await send(this.#headersOf(key), isLast)
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
    const { form, credentialOptional } = this.#options
    const own = this.#passedThrough(credential, headers)
    if (own !== undefined) return form.headers(own)
    if (credentialOptional) return []
    const set = form.variable === undefined ? `give it an \`api_key\`` : `set ${form.variable}`
    const header = this.#passThrough ? 'x-api-key' : 'x-provider-key'
    throw this.#noCredential(`${set}, or send your own key in ${header}, or try model \`demo/echo\``)
  }

  /** Whether the caller has brought a key for this provider. One that signs cannot use it. */
  #isBroughtFor(credential: PresentedCredential | undefined): credential is PresentedCredential {
    return credential?.header === 'x-provider-key' && credential.provider === this.name && !this.#options.isSigned
  }

  /** The caller's own credential, where a call would be made with it. */
  #ownOf(presented: PresentedCredential | undefined, headers: RelayCall['headers']): PresentedCredential | undefined {
    if (this.#isBroughtFor(presented)) return presented
    return this.#usesOperators ? undefined : this.#passedThrough(presented, headers)
  }

  /** A key in the provider's usual form. */
  #headersOf({ secret }: { readonly secret: string }): string[] {
    return this.#options.form.headers({ header: 'x-api-key', secret })
  }

  /** Whether the operator bears the expense: of everybody's calls, or of those that were paid for one by one. */
  #isPaidFor(credential: PresentedCredential | undefined): boolean {
    return this.#isShared || credential === OPERATOR || credential?.header === 'payment'
  }

  /** Whether a call would be made at the operator's expense. */
  get #usesOperators(): boolean {
    return this.#ring.size > 0 || this.#options.isSigned === true
  }

  /** Local mode: a credential of this provider's form that the caller has presented to the gateway. */
  #passedThrough(
    credential: PresentedCredential | undefined,
    headers: RelayCall['headers'],
  ): PresentedCredential | undefined {
    return this.#passThrough && credential !== undefined && credential.header !== 'payment'
      ? this.#options.form.ownOf(credential, headers)
      : undefined
  }

  #noCredential(help: string): GatewayError {
    return new GatewayError('authentication_error', `No credential for provider ${this.name}: ${help}.`)
  }
}

/** What a call needs of an exchange. */
export function callerOf(exchange: Exchange): CallerFacts {
  const { caller, headers, credential, signal, id } = exchange
  return {
    scope: caller.scope,
    headers,
    credential,
    signal,
    requestId: id,
    conversation: () => conversationOf(exchange),
  }
}

/** A session that the client names, else how its conversation begins. */
function conversationOf({ caller, headers, client }: Exchange): string {
  const session = headers['x-claude-code-session-id']
  if (typeof session === 'string') return `${caller.scope} ${session}`
  const beginning = client.document.raw('messages')?.toString('latin1', 0, CONVERSATION_BYTES)
  return `${caller.scope} ${beginning}`
}
