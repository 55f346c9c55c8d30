import type { ListedModel, Provider, RelayCall } from '../../core/ports/provider.ts'
import type { Reply } from '../../core/reply/reply.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { versionOf } from '../../core/request/version-headers.ts'
import { askClaude } from '../claude/ask.ts'
import { pathOfModel, readModel, readModelList } from '../model-list.ts'
import { type CredentialForm, callerOf } from '../upstream.ts'
import { UpstreamProvider } from '../upstream-provider.ts'

const OWN_CREDENTIAL = /^sk-ant-/
const MODELS = /^claude-/
const VERSION = ['anthropic-version', '2023-06-01']
const MOST_MODELS = 1000

/** Sends `x-api-key`, or a bearer where the caller presented a token of the provider's form. */
export const ANTHROPIC_CREDENTIAL: CredentialForm = {
  variable: 'ANTHROPIC_API_KEY',
  headers: ({ header, secret }) =>
    header === 'x-api-key' ? ['x-api-key', secret] : ['authorization', `Bearer ${secret}`],
  ownOf(presented, headers) {
    if (presented.header === 'x-api-key' || OWN_CREDENTIAL.test(presented.secret)) return presented
    // Some clients send both; then the bearer is for the gateway.
    const key = headers['x-api-key']
    return typeof key === 'string' && key.trim() !== '' ? { header: 'x-api-key', secret: key.trim() } : undefined
  },
}

/** The provider of the canonical dialect: bytes pass unchanged both ways. */
export class AnthropicProvider extends UpstreamProvider implements Provider {
  readonly storesResponses = false
  claims(model: string): boolean {
    return MODELS.test(model)
  }

  complete(exchange: Exchange, target: Target): Promise<Reply> {
    const isOwnDialect = exchange.dialect.name === 'messages'
    const path = `/v1/messages${isOwnDialect ? exchange.query : ''}`
    const headers = isOwnDialect ? [] : versionFor(exchange.headers)
    const send = ({ bytes }: RequestDocument) =>
      this.upstream.call({ method: 'POST', path, body: bytes, headers }, callerOf(exchange))
    return askClaude(exchange, target, { send, hasWebSearch: true })
  }

  countTokens({ query, body, ...caller }: RelayCall): Promise<Reply> {
    return this.upstream.call({ method: 'POST', path: `/v1/messages/count_tokens${query}`, body }, caller)
  }

  async listModels(caller: RelayCall): Promise<readonly ListedModel[]> {
    const headers = versionFor(caller.headers)
    const path = `/v1/models?limit=${MOST_MODELS}`
    const reply = await this.upstream.call({ method: 'GET', path, body: undefined, headers }, caller)
    return readModelList(reply, this.name)
  }

  async findModel(id: string, caller: RelayCall): Promise<ListedModel | undefined> {
    const path = pathOfModel(id)
    if (path === undefined) return undefined
    const headers = versionFor(caller.headers)
    const reply = await this.upstream.call({ method: 'GET', path: `/v1${path}`, body: undefined, headers }, caller)
    return readModel(reply, this.name)
  }
}

/** Returns the version header for a request that the gateway wrote itself, if the client names no version. */
function versionFor(headers: RelayCall['headers']): readonly string[] {
  return versionOf(headers) === undefined ? VERSION : []
}
