import { GatewayError } from '../../core/errors.ts'
import type { Edit } from '../../core/json/splice.ts'
import type { ListedModel, Provider, RelayCall } from '../../core/ports/provider.ts'
import { BytesReply, type Reply } from '../../core/reply/reply.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { refuseServerSideThread } from '../../core/request/server-side-thread.ts'
import { askClaude } from '../claude/ask.ts'
import { betasOf, tellLeftOut } from '../claude/betas.ts'
import { type CallerFacts, type CredentialForm, callerOf, type Upstream } from '../upstream.ts'
import { verbatimWire, type Wire } from '../wire.ts'
import type { Authorization } from './credentials.ts'
import { toMessagesError } from './errors.ts'

/** What the provider is made from. */
export interface VertexOptions {
  /** Calls the address, without a credential of its own. */
  readonly upstream: Upstream
  readonly authorization: Authorization
  readonly project: string
  readonly location: string
  readonly models: readonly string[]
  readonly leftOutBetas: readonly string[]
}

/** No caller has a credential of this form, and the operator's is a token of the moment that goes with each request. */
export const TOKEN: CredentialForm = { variable: undefined, headers: () => [], ownOf: () => undefined }

/** Vertex AI, "Request predictions with Claude models": the only value there is. */
const VERSION: Edit = { op: 'add', path: ['anthropic_version'], value: 'vertex-2023-10-16' }
const COUNTING = 'count-tokens'
const CONTENT_TYPE = 'application/json'
/** Headers that are the gateway's own to write here. */
const OWN_HEADER = /^(?:content-type|authorization|host|x-goog-user-project|(?:anthropic|provider)-(?:version|beta))$/

const VERBATIM = verbatimWire()
/** Replies are the model's own, byte for byte; errors may be the platform's. */
const WIRE: Wire = {
  ...VERBATIM,
  bytes(status, headers, body) {
    if (status === 200) return VERBATIM.bytes(status, headers, body)
    return new BytesReply(status, { ...headers, 'content-type': CONTENT_TYPE }, toMessagesError(status, body))
  },
}

/** Claude on Vertex AI: the canonical shape, but for the model, which is in the path, and the version in the body. */
export class VertexProvider implements Provider {
  readonly name = 'vertex'
  readonly #options: VertexOptions
  readonly #path: string

  constructor(options: VertexOptions) {
    this.#options = options
    const { project, location } = options
    this.#path = `/v1/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}/publishers/anthropic/models`
  }

  get configured(): boolean {
    return this.#options.authorization.isAvailable
  }

  claims(): boolean {
    return false
  }

  isUsableBy(): boolean {
    return this.configured
  }

  async complete(exchange: Exchange, target: Target): Promise<Reply> {
    refuseServerSideThread(exchange.request)
    const { kept, leftOut } = betasOf(exchange.headers, this.#options.leftOutBetas)
    const reply = await askClaude(exchange, target, (request) => {
      const body = request.edited([{ op: 'remove', path: ['model'] }, VERSION]).bytes
      const method = `${pathOf(target.model)}:${request.stream ? 'streamRawPredict' : 'rawPredict'}`
      return this.#post({ method, body, betas: kept }, callerOf(exchange))
    })
    return tellLeftOut(reply, leftOut)
  }

  /** Counting is a model of its own there, told in the body which one is meant. */
  async countTokens({ body, ...caller }: RelayCall): Promise<Reply> {
    if (body === undefined) throw new GatewayError('invalid_request', 'The body is missing.')
    const { kept, leftOut } = betasOf(caller.headers, this.#options.leftOutBetas)
    const versioned = new RequestDocument(body).edited([VERSION]).bytes
    const reply = await this.#post({ method: `${COUNTING}:rawPredict`, body: versioned, betas: kept }, caller)
    return tellLeftOut(reply, leftOut)
  }

  /** There is no list of the models that a project may call; the operator may have one. */
  async listModels(): Promise<readonly ListedModel[]> {
    return this.#options.models.map((id) => ({ id }))
  }

  async relay({ path }: RelayCall): Promise<Reply> {
    throw new GatewayError('not_found', `Vertex AI has nothing at ${path}.`)
  }

  close(): Promise<void> {
    return this.#options.upstream.close()
  }

  async #post({ method, body, betas }: Post, caller: CallerFacts): Promise<Reply> {
    const { upstream, authorization } = this.#options
    const headers = ['content-type', CONTENT_TYPE, ...(await authorization.headers(caller.signal))]
    if (betas.length > 0) headers.push('anthropic-beta', betas.join(','))
    const own = { ...caller, headers: withoutOwn(caller.headers) }
    return upstream.call({ method: 'POST', path: `${this.#path}/${method}`, body, headers }, own, WIRE)
  }
}

interface Post {
  /** The model and what is done with it, as the path ends. */
  readonly method: string
  readonly body: Buffer
  readonly betas: readonly string[]
}

/** Versions of models stand behind an `@`, which the platform's own clients leave as it is. */
function pathOf(model: string): string {
  return encodeURIComponent(model).replaceAll('%40', '@')
}

function withoutOwn(headers: CallerFacts['headers']): CallerFacts['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADER.test(name)))
}
