import { GatewayError } from '../../core/errors.ts'
import type { ListedModel, Provider, RelayCall } from '../../core/ports/provider.ts'
import { BytesReply, type Reply } from '../../core/reply/reply.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { addDroppedFields } from '../dropped-fields-header.ts'
import { completeTranslated, type Translation } from '../translation.ts'
import type { CredentialForm } from '../upstream.ts'
import { UpstreamProvider } from '../upstream-provider.ts'
import { translatedWire } from '../wire.ts'
import { toCountTokensReply } from './count-tokens.ts'
import { toMessagesError, trueStatus } from './errors.ts'
import { readGeminiModels } from './models.ts'
import { toMessagesReply } from './reply.ts'
import { toCountTokensRequest, toGeminiRequest } from './request.ts'
import { createMessagesEvents } from './stream.ts'

const MODELS = /^(gemini|gemma|learnlm)-/
const OWN_CREDENTIAL = /^(AIza|AQ\.)/
const LIST = '/v1beta/models?pageSize=1000'

/** Google's API key header. */
export const GEMINI_CREDENTIAL: CredentialForm = {
  variable: 'GEMINI_API_KEY',
  headers: ({ secret }) => ['x-goog-api-key', secret],
  ownOf: (presented) => (OWN_CREDENTIAL.test(presented.secret) ? presented : undefined),
}

/** Translation to Gemini's shape. */
const GEMINI: Translation = {
  toWire(request, exchange, { model }) {
    const method = exchange.wantsStream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    const { bytes, droppedFields } = toGeminiRequest(request, { model, assumed: exchange.assumed })
    return { path: pathOf(model, method), bytes, droppedFields }
  },
  fromWire: (named) => ({
    toMessage: (body) => toMessagesReply(body, named),
    toError: toMessagesError,
    statusOfError: trueStatus,
    createTranslator: () => createMessagesEvents(named),
  }),
}

/** Google's Gemini API, in its own shape. */
export class GeminiProvider extends UpstreamProvider implements Provider {
  readonly storesResponses = false
  claims(model: string): boolean {
    return MODELS.test(model)
  }

  complete(exchange: Exchange, target: Target): Promise<Reply> {
    return completeTranslated(exchange, target, { upstream: this.upstream, translation: GEMINI })
  }

  async countTokens({ body, ...caller }: RelayCall, { model }: Target): Promise<Reply> {
    const request = new RequestDocument(body ?? Buffer.from('{}'))
    const { bytes, droppedFields } = toCountTokensRequest(request, { model })
    droppedFields.assertCarried(this.name)
    const wire = translatedWire({ ...GEMINI.fromWire({ model, id: '' }), toMessage: toCountTokensReply })
    const call = { method: 'POST', path: pathOf(model, 'countTokens'), body: bytes } as const
    return addDroppedFields(await this.upstream.call(call, caller, wire), droppedFields)
  }

  async listModels(caller: RelayCall): Promise<readonly ListedModel[]> {
    const reply = await this.upstream.call({ method: 'GET', path: LIST, body: undefined }, caller)
    if (reply instanceof BytesReply && reply.status === 200) return readGeminiModels(reply.bytes)
    reply.cancel()
    throw new GatewayError('upstream_error', `Provider gemini answered ${reply.status} and no list of models.`)
  }
}

function pathOf(model: string, method: string): string {
  return `/v1beta/models/${encodeURIComponent(model)}:${method}`
}
