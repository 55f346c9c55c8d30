import { abortable } from '../core/abortable.ts'
import { GatewayError, messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'

/** Options of a credential lookup. */
export interface LookupOptions<Credential> {
  /** The provider's name, for messages. */
  readonly provider: string
  /** Finds the current credential; caches and renews it. */
  readonly find: () => Promise<Credential>
  /** Advice for a missing credential: the end of the error's message. */
  readonly missing: string
  readonly log: Log
  /** Longest lookup in milliseconds. Default: ten seconds. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 10_000

/** Looks up credentials in files, environments and a cloud's own services, where they may appear and disappear. */
export class CredentialLookup<Credential> {
  readonly #options: LookupOptions<Credential>
  #isAvailable = false

  constructor(options: LookupOptions<Credential>) {
    this.#options = options
  }

  /** True once a credential has been found. */
  get isAvailable(): boolean {
    return this.#isAvailable
  }

  /** Looks for a credential, and logs when there is none; never throws. */
  async probe(): Promise<void> {
    const { log, provider } = this.#options
    try {
      await this.get(new AbortController().signal)
    } catch (error) {
      const { cause } = error as GatewayError // safe: `get` throws nothing else when its signal does not abort
      log.warn({ provider, reason: messageOf(cause) }, 'provider_credential.missing')
    }
  }

  /**
   * Returns the current credential. Throws `authentication_error` when there has never been one, `upstream_error` when it
   * cannot be renewed, or the signal's reason.
   */
  async get(signal: AbortSignal): Promise<Credential> {
    const { find, timeoutMs = TIMEOUT_MS } = this.#options
    try {
      signal.throwIfAborted()
      const onTimeout = () => new Error(`no credential came within ${timeoutMs} ms`)
      const credential = await abortable(find(), { signal, timeoutMs, onTimeout })
      this.#isAvailable = true
      return credential
    } catch (error) {
      signal.throwIfAborted()
      throw this.#failure(error)
    }
  }

  /** Keeps only the message of a cloud library's error: these errors contain requests and replies, with secrets. */
  #failure(error: unknown): GatewayError {
    const { provider, missing } = this.#options
    const cause = new Error(messageOf(error))
    return this.#isAvailable
      ? new GatewayError('upstream_error', `The credential of provider ${provider} could not be renewed.`, { cause })
      : new GatewayError('authentication_error', `No credential for provider ${provider}: ${missing}.`, { cause })
  }
}
