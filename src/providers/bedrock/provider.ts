import { GatewayError } from '../../core/errors.ts'
import { tryParseJson } from '../../core/json/json-value.ts'
import type { Provider, RelayCall } from '../../core/ports/provider.ts'
import { BytesReply, type Reply } from '../../core/reply/reply.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { refuseServerSideThread } from '../../core/request/server-side-thread.ts'
import { askClaude } from '../claude/ask.ts'
import { addLeftOut, betasOf } from '../claude/betas.ts'
import { type HostedOptions, HostedProvider, withoutHeaders } from '../claude/hosted-provider.ts'
import { type CallerFacts, callerOf } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import type { Authorization } from './authorization.ts'
import { countableModel, countTokensBody, invokeBody } from './invoke-body.ts'

/** Dependencies of the provider. */
export interface BedrockOptions extends HostedOptions {
  readonly authorization: Authorization
  readonly wire: Wire
  /** Path prefix of the operator's address. */
  readonly basePath: string
  /** Monotonic time in milliseconds. */
  readonly nowMs: () => number
}

const CONTENT_TYPE = 'application/json'
/** Headers that only the gateway may write here. */
const OWN_HEADER = /^(?:content-type|accept|authorization|host|x-amz-.*)$/
/** A signature expires after five minutes; a younger one was refused for another reason. */
const SIGNATURE_LIFE_MS = 4.5 * 60_000

/** Claude on Amazon Bedrock: the canonical shape, except for the model, which is in the path, and a stream's frames. */
export class BedrockProvider extends HostedProvider<BedrockOptions> implements Provider {
  readonly storesResponses = false
  async complete(exchange: Exchange, target: Target): Promise<Reply> {
    refuseServerSideThread(exchange.request)
    const { kept, leftOut } = betasOf(exchange.headers, this.options.leftOutBetas)
    const model = `/model/${encodeURIComponent(target.model)}`
    const send = (request: RequestDocument) => {
      const path = `${model}/${request.stream ? 'invoke-with-response-stream' : 'invoke'}`
      return this.#post({ path, body: invokeBody(request, kept) }, callerOf(exchange))
    }
    const reply = await askClaude(exchange, target, { send, hasWebSearch: false })
    return addLeftOut(reply, leftOut)
  }

  async countTokens({ body, ...caller }: RelayCall, { model }: Target): Promise<Reply> {
    if (body === undefined) throw new GatewayError('invalid_request', 'The body is missing.')
    const { kept, leftOut } = betasOf(caller.headers, this.options.leftOutBetas)
    const path = `/model/${encodeURIComponent(countableModel(model))}/count-tokens`
    const reply = await this.#post({ path, body: countTokensBody(body, kept) }, caller)
    return addLeftOut(reply.kind === 'bytes' && reply.status === 200 ? toCount(reply) : reply, leftOut)
  }

  /** Sends the request; a call that waited for a connection or a retry may be refused for an expired signature, and is signed again once. */
  async #post(request: { path: string; body: Buffer }, caller: CallerFacts): Promise<Reply> {
    const signedAtMs = this.options.nowMs()
    const reply = await this.#postSigned(request, caller)
    const isTooOld = reply.status === 403 && this.options.nowMs() - signedAtMs > SIGNATURE_LIFE_MS
    return isTooOld ? this.#postSigned(request, caller) : reply
  }

  async #postSigned({ path, body }: { path: string; body: Buffer }, caller: CallerFacts): Promise<Reply> {
    const { upstream, authorization, wire, basePath } = this.options
    const signable = { path: basePath + path, contentType: CONTENT_TYPE, body }
    const credential = await authorization.headers(signable, caller.signal)
    const headers = ['content-type', CONTENT_TYPE, 'accept', CONTENT_TYPE, ...credential]
    return upstream.call({ method: 'POST', path, body, headers }, withoutHeaders(caller, OWN_HEADER), wire)
  }
}

function toCount({ status, headers, bytes }: BytesReply): BytesReply {
  const counted = tryParseJson(bytes)
  const tokens = typeof counted === 'object' && counted !== null && 'inputTokens' in counted && counted.inputTokens
  if (typeof tokens !== 'number')
    throw new GatewayError('upstream_error', 'Provider bedrock answered a token count without a number.')
  return new BytesReply(status, headers, Buffer.from(JSON.stringify({ input_tokens: tokens })))
}
