import { GatewayError } from '../../core/errors.ts'
import type { Exchange } from '../../core/exchange.ts'
import type { PresentedCredential, Provider, RelayCall } from '../../core/ports.ts'
import type { Reply } from '../../core/reply.ts'
import { type CallPolicy, callProvider } from '../call.ts'
import type { HeaderForwarder } from '../headers.ts'
import type { Transport } from '../transport.ts'

/** What the provider of the Messages API needs; its address is operator configuration and never a caller's. */
export interface AnthropicOptions {
  readonly apiKey: string | undefined
  /** Callers may bring their own credential (local mode, when there is no `apiKey`). */
  readonly passThrough: boolean
  /** A custom address may need no credential at all. */
  readonly credentialOptional: boolean
  readonly transport: Transport
  readonly forwarder: HeaderForwarder
  readonly policy: CallPolicy
}

/** What a call needs of whom it is made for. */
type CallerFacts = Pick<RelayCall, 'headers' | 'credential' | 'signal' | 'requestId'>

function callerOf({ headers, credential, signal, id }: Exchange): CallerFacts {
  return { headers, credential, signal, requestId: id }
}

const OWN_CREDENTIAL = /^sk-ant-/

/** The provider that speaks the canonical shape itself: bytes go out and come back as they are. */
export class AnthropicProvider implements Provider {
  readonly name = 'anthropic'
  readonly configured: boolean
  readonly #options: AnthropicOptions

  constructor(options: AnthropicOptions) {
    this.#options = options
    this.configured = options.apiKey !== undefined
  }

  isUsableBy({ secret }: PresentedCredential): boolean {
    return this.configured || this.#options.credentialOptional || OWN_CREDENTIAL.test(secret)
  }

  complete(exchange: Exchange): Promise<Reply> {
    const { request, target } = exchange
    // A provider prefix is the gateway's own notation: it is spliced out, everything else stays.
    const { bytes } =
      request.model === target.model
        ? request
        : request.edited([{ op: 'replace', path: ['model'], value: target.model }])
    return this.#call({ method: 'POST', path: `/v1/messages${exchange.query}`, body: bytes }, callerOf(exchange))
  }

  relay({ method, path, query, body, ...caller }: RelayCall): Promise<Reply> {
    return this.#call({ method, path: path + query, body }, caller)
  }

  close(): Promise<void> {
    return this.#options.transport.close()
  }

  async #call(
    request: Pick<RelayCall, 'method' | 'path' | 'body'>,
    { headers, credential, signal, requestId }: CallerFacts,
  ): Promise<Reply> {
    const { transport, forwarder, policy } = this.#options
    const sent = forwarder.forward(headers, this.#credentialFor(credential, headers['x-api-key']))
    return callProvider(transport, { ...request, headers: sent }, { policy, signal, requestId })
  }

  /** The operator's credential; else the caller's own, if it is one of this provider's. */
  #credentialFor(presented: PresentedCredential, key: string | string[] | undefined): PresentedCredential | undefined {
    const { apiKey, passThrough, credentialOptional } = this.#options
    if (apiKey !== undefined) return { header: 'x-api-key', secret: apiKey }
    if (passThrough && (presented.header === 'x-api-key' || OWN_CREDENTIAL.test(presented.secret))) return presented
    // Some clients send both; then the bearer is meant for the gateway.
    if (passThrough && typeof key === 'string' && key.trim() !== '') return { header: 'x-api-key', secret: key.trim() }
    if (credentialOptional) return undefined
    throw new GatewayError(
      'authentication_error',
      'No credential for provider anthropic: set ANTHROPIC_API_KEY, or send your own key in x-api-key, or try model `demo/echo`.',
    )
  }
}
