import { GatewayError } from '../../core/errors.ts'
import type { Edit } from '../../core/json/splice.ts'
import type { Provider, RelayCall } from '../../core/ports/provider.ts'
import { BytesReply, type Reply } from '../../core/reply/reply.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { refuseServerSideThread } from '../../core/request/server-side-thread.ts'
import { askClaude } from '../claude/ask.ts'
import { addLeftOut, betasOf } from '../claude/betas.ts'
import { type HostedOptions, HostedProvider, withoutHeaders } from '../claude/hosted-provider.ts'
import { type CallerFacts, callerOf } from '../upstream.ts'
import { verbatimWire, type Wire } from '../wire.ts'
import type { Authorization } from './credentials.ts'
import { toMessagesError } from './errors.ts'

/** Dependencies of the provider. */
export interface VertexOptions extends HostedOptions {
  readonly authorization: Authorization
  readonly project: string
  readonly location: string
}

/** The only supported value (Vertex AI, "Request predictions with Claude models"). */
const VERSION: Edit = { op: 'add', path: ['anthropic_version'], value: 'vertex-2023-10-16' }
const COUNTING = 'count-tokens'
const CONTENT_TYPE = 'application/json'
/** Headers that only the gateway may write here. */
const OWN_HEADER = /^(?:content-type|authorization|host|x-goog-user-project|(?:anthropic|provider)-(?:version|beta))$/

const VERBATIM = verbatimWire()
/** Reads the replies: the model's own, byte for byte; errors may be the platform's. */
const WIRE: Wire = {
  ...VERBATIM,
  bytes(status, headers, body) {
    if (status === 200) return VERBATIM.bytes(status, headers, body)
    return new BytesReply(status, { ...headers, 'content-type': CONTENT_TYPE }, toMessagesError(status, body))
  },
}

/** Claude on Vertex AI: the canonical shape, except for the model, which is in the path, and the version in the body. */
export class VertexProvider extends HostedProvider<VertexOptions> implements Provider {
  readonly storesResponses = false
  readonly #path: string

  constructor(options: VertexOptions) {
    super(options)
    const { project, location } = options
    this.#path = `/v1/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}/publishers/anthropic/models`
  }

  async complete(exchange: Exchange, target: Target): Promise<Reply> {
    refuseServerSideThread(exchange.request)
    const { kept, leftOut } = betasOf(exchange.headers, this.options.leftOutBetas)
    const send = (request: RequestDocument) => {
      const body = request.edited([{ op: 'remove', path: ['model'] }, VERSION]).bytes
      const method = `${pathOf(target.model)}:${request.stream ? 'streamRawPredict' : 'rawPredict'}`
      return this.#post({ method, body, betas: kept }, callerOf(exchange))
    }
    const reply = await askClaude(exchange, target, { send, hasWebSearch: true })
    return addLeftOut(reply, leftOut)
  }

  /** Counts tokens through a model of its own, which gets the counted model's name in the body. */
  async countTokens({ body, ...caller }: RelayCall): Promise<Reply> {
    if (body === undefined) throw new GatewayError('invalid_request', 'The body is missing.')
    const { kept, leftOut } = betasOf(caller.headers, this.options.leftOutBetas)
    const versioned = new RequestDocument(body).edited([VERSION]).bytes
    const reply = await this.#post({ method: `${COUNTING}:rawPredict`, body: versioned, betas: kept }, caller)
    return addLeftOut(reply, leftOut)
  }

  async #post({ method, body, betas }: Post, caller: CallerFacts): Promise<Reply> {
    const { upstream, authorization } = this.options
    const headers = ['content-type', CONTENT_TYPE, ...(await authorization.headers(caller.signal))]
    if (betas.length > 0) headers.push('anthropic-beta', betas.join(','))
    const own = withoutHeaders(caller, OWN_HEADER)
    return upstream.call({ method: 'POST', path: `${this.#path}/${method}`, body, headers }, own, WIRE)
  }
}

interface Post {
  /** The model and the method, as the end of the path. */
  readonly method: string
  readonly body: Buffer
  readonly betas: readonly string[]
}

/** Returns a model's path. Versions follow an `@`, which the platform's own clients do not escape. */
function pathOf(model: string): string {
  return encodeURIComponent(model).replaceAll('%40', '@')
}
