import { hash } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'
import { OPERATOR, type PresentedCredential, type RelayCall } from '../core/ports/provider.ts'
import { removeAccountLimits } from '../core/reply/account-limits.ts'
import type { Reply } from '../core/reply/reply.ts'
import type { Exchange } from '../core/request/exchange.ts'
import type { SentRequest } from '../core/request/sent-request.ts'
import { traceparentFor } from '../core/telemetry/trace-context.ts'
import { accountGone, accountOf, assertAccount } from './account-of.ts'
import { type CallPolicy, callProvider } from './call.ts'
import { retryAfterMs } from './failed-reply.ts'
import { HeaderForwarder, type HeaderRules, mergeHeaders } from './headers.ts'
import { KeyRing, type RingKey } from './key-ring.ts'
import type { ProviderParts } from './kind.ts'
import type { WeightedKey } from './options.ts'
import { Transport, type UpstreamRequest } from './transport.ts'
import { verbatimWire, type Wire } from './wire.ts'

/** The form in which a provider expects a credential. */
export interface CredentialForm {
  /** Returns the headers that carry it, flat: name, value. */
  headers(credential: PresentedCredential): string[]
  /** Returns the caller's own credential, if the presented one is for this provider. */
  ownOf(presented: PresentedCredential, headers: RelayCall['headers']): PresentedCredential | undefined
  /** The environment variable of the operator's credential, for messages. */
  readonly variable: string | undefined
}

/** Options of an upstream. */
export interface UpstreamOptions {
  readonly name: string
  readonly baseUrl: string
  readonly keys: readonly WeightedKey[]
  readonly form: CredentialForm
  /** True when the address needs no credential, such as a self-hosted server. */
  readonly credentialOptional: boolean
  /** True when requests carry an operator's credential that is not among `keys`: a signature or a short-lived token. */
  readonly isSigned?: boolean
  /** Rules for the client headers that are forwarded. */
  readonly headers: HeaderRules
  /** The operator's own headers; they replace those of the same name. */
  readonly extraHeaders?: Readonly<Record<string, string>>
}

/** Caller-dependent inputs of a call. */
export interface CallerFacts {
  /** The caller's scope, by which connections are shared. */
  readonly scope: string
  readonly headers: RelayCall['headers']
  readonly credential: PresentedCredential | undefined
  readonly signal: AbortSignal
  readonly requestId: string
  /** Digest of the only credential that may be used. Default: any. */
  readonly account?: string | undefined
  /** Receives the digest of the credential of each call. */
  readonly onAccount?: (account: string) => void
  /** Receives each request as it is sent. */
  readonly onSent?: (sent: SentRequest) => void
  /** True to remove from replies the headers about limits of the operator's account. */
  readonly hidesAccountLimits?: boolean
  /** Returns what the calls of one conversation have in common; called only when there are several credentials. */
  readonly conversation?: () => string
}

/** Longest wait for an error's body. */
const LONGEST_ERROR_BODY_MS = 5000
const LIMITED_COOL_DOWN_MS = 30_000
const REFUSED_COOL_DOWN_MS = 5 * 60_000
const LONGEST_COOL_DOWN_MS = 15 * 60_000
const VERBATIM = verbatimWire()
/** Headers that carry credentials, by their names: `authorization`, `api-key`, `x-auth-token`, … */
const CREDENTIAL_NAME = /auth|key|token|secret/i

/** Use of one credential. */
interface Sending {
  /** True for the caller's credential, false for the operator's. */
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

  /** Returns true when it can be called for a caller with this credential. */
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
   * Calls the address: with the operator's keys, the next one after a refusal, or else with the caller's own.
   * Throws `upstream_error`, `authentication_error`, or the signal's reason.
   */
  async call(
    request: Omit<UpstreamRequest, 'headers'> & { headers?: readonly string[] },
    caller: CallerFacts,
    wire: Wire = VERBATIM,
  ): Promise<Reply> {
    const trace = this.#isTraced ? ['traceparent', traceparentFor(caller.requestId, caller.headers)] : []
    const send = async (
      secret: string | undefined,
      credential: readonly string[],
      { isCallersOwn, waitsForLimit }: Sending,
    ) => {
      assertAccount(secret, caller)
      const { path, body } = request
      if (body !== undefined) caller.onSent?.({ path, bytes: body, account: accountOf(secret), isCallersOwn })
      const forwarded = this.#forwarder.forward(caller.headers, { isCallersOwn })
      const headers = mergeHeaders(forwarded, request.headers ?? [], trace, credential, this.#extraHeaders)
      const options = { ...caller, policy: this.#policy, wire, waitsForLimit }
      const reply = await callProvider(this.#transport, { ...request, headers }, options)
      if (caller.hidesAccountLimits && !isCallersOwn) removeAccountLimits(reply.headers)
      return reply
    }
    if (this.#isBroughtFor(caller.credential))
      return send(caller.credential.secret, this.#headersOf(caller.credential), {
        isCallersOwn: true,
        waitsForLimit: true,
      })
    if (this.#usesOperators && !this.#isPaidFor(caller.credential))
      throw this.#noCredential('send your own key in x-provider-key')
    if (this.#ring.size > 0) {
      const keys = this.#keysFor(caller)
      return this.#callWithKeys(keys, (key, waitsForLimit) =>
        send(key.secret, this.#headersOf(key), { isCallersOwn: false, waitsForLimit }),
      )
    }
    const own = this.#callersOwn(caller)
    const { secret } = this.#passedThrough(caller.credential, caller.headers) ?? {}
    return send(secret, own, { isCallersOwn: own.length > 0 && !this.#hasFixedCredential, waitsForLimit: true })
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  /** Returns the keys in the order of the conversation; of a stored response, only the key that has made it. */
  #keysFor({ account, conversation, requestId }: CallerFacts): readonly RingKey[] {
    if (account === undefined) return this.#ring.order(conversation ?? (() => requestId))
    const keys = this.#ring.order(() => account).filter(({ secret }) => accountOf(secret) === account)
    if (keys.length === 0) throw accountGone()
    return keys
  }

  async #callWithKeys(
    keys: readonly RingKey[],
    send: (key: RingKey, waitsForLimit: boolean) => Promise<Reply>,
  ): Promise<Reply> {
    for (let i = 0; ; i++) {
      const key = keys[i] as RingKey // safe: the loop ends with the last key, and there is one
      const isLast = i === keys.length - 1
      const reply = await send(key, isLast)
      if (reply.status !== 401 && reply.status !== 429) return reply
      this.#coolDown(key, reply, i)
      if (isLast) return reply
    }
  }

  /** Starts a key's cool-down, unless it is the only one. */
  #coolDown(key: RingKey, { status, headers }: Reply, index: number): void {
    if (this.#ring.size < 2) return
    const coolDownMs =
      status === 401 ? REFUSED_COOL_DOWN_MS : (retryAfterMs(headers['retry-after']) ?? LIMITED_COOL_DOWN_MS)
    this.#ring.coolDown(key, Math.min(coolDownMs, LONGEST_COOL_DOWN_MS))
    this.#policy.log.warn({ provider: this.name, status, coolDownMs, nthTried: index + 1 }, 'provider_key.cooled-down')
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

  /** Returns true when the caller sent a key for this provider. A provider with signatures cannot use it. */
  #isBroughtFor(credential: PresentedCredential | undefined): credential is PresentedCredential {
    return credential?.header === 'x-provider-key' && credential.provider === this.name && !this.#options.isSigned
  }

  /** Returns the caller's own credential, if a call would use it. */
  #ownOf(presented: PresentedCredential | undefined, headers: RelayCall['headers']): PresentedCredential | undefined {
    if (this.#isBroughtFor(presented)) return presented
    return this.#usesOperators ? undefined : this.#passedThrough(presented, headers)
  }

  /** Returns the headers of a key in the provider's usual form. */
  #headersOf({ secret }: { readonly secret: string }): string[] {
    return this.#options.form.headers({ header: 'x-api-key', secret })
  }

  /** Returns true when the operator pays: for all calls, or for calls that were paid for one by one. */
  #isPaidFor(credential: PresentedCredential | undefined): boolean {
    return this.#isShared || credential === OPERATOR || credential?.header === 'payment'
  }

  /** True when calls use the operator's credential. */
  get #usesOperators(): boolean {
    return this.#ring.size > 0 || this.#options.isSigned === true
  }

  /** Returns a credential of this provider's form that the caller presented to the gateway (local mode). */
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

/** Returns the caller-dependent inputs of an exchange's calls. */
export function callerOf(exchange: Exchange): CallerFacts {
  const { caller, headers, credential, signal, id } = exchange
  return {
    scope: caller.scope,
    headers,
    credential,
    signal,
    requestId: id,
    account: exchange.stored.continued?.account,
    ...(exchange.dialect.name === 'responses' && {
      onAccount(account: string) {
        exchange.stored.account = account
      },
    }),
    onSent: (sent) => exchange.noteSent(sent),
    conversation: () => affinityOf(exchange),
  }
}

/** Returns the run that a request belongs to: its agents share tools and system texts, and with them a prompt cache. */
function affinityOf({ caller, client, conversation }: Exchange): string {
  const cacheKey = conversation.source === 'client' ? undefined : client.document.raw('prompt_cache_key')
  return cacheKey === undefined ? conversation.rootId : `${caller.scope} ${cacheKey}`
}
