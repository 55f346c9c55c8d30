import type { Middleware, ParameterizedContext } from 'koa'
import type { Provider, RelayCall } from '../../core/ports/provider.ts'
import type { StoredResponse } from '../../core/ports/stored-responses.ts'
import { jsonReply, type Reply } from '../../core/reply/reply.ts'
import type { ClientDialect } from '../../dialects/client-dialect.ts'
import { readConversation } from '../../dialects/responses/state/continued-request.ts'
import { listInputItems } from '../../dialects/responses/state/input-items.ts'
import type { Authenticate } from '../authentication.ts'
import { forProvider } from '../credential.ts'
import type { RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'
import { type ResponseStates, responseNotFound } from '../responses/response-states.ts'
import { type SendOptions, sendReply } from '../send-reply.ts'
import { callFor } from './relay.ts'

/** Dependencies of the routes of stored responses. */
export interface StoredResponseRouteOptions {
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
  readonly states: ResponseStates
  readonly provider: (name: string) => Pick<Provider, 'relay'>
  readonly dialect: ClientDialect
  readonly send: SendOptions
}

const NOT_FOUND = 404

/**
 * `GET` and `DELETE /v1/responses/{id}`, its `input_items` and `cancel`: for the caller's own responses, by the provider and the
 * credential that made them, or by the gateway where it stores them. Free of charge. Any other id is 404, without a call.
 */
export function storedResponseRoute(options: StoredResponseRouteOptions): Middleware<RequestState> {
  const { states, dialect, send } = options
  return async function storedResponse(ctx) {
    ctx.state.dialect = dialect
    const { caller, pipelineConfig: _, ...call } = await callFor(ctx, options)
    const { id = '' } = paramsOf(ctx)
    const stored = await states.find(caller.scope, id)
    if (stored === undefined) throw responseNotFound(null)
    const reply =
      stored.content === null
        ? await relay(stored, call, options)
        : answerStored(stored.content, { id, method: ctx.method, path: ctx.path, query: ctx.search })
    const isGone = ctx.method === 'DELETE' && (reply.status < 300 || reply.status === NOT_FOUND)
    if (isGone) await states.delete(caller.scope, id)
    ctx.respond = false
    const watch = isGone ? undefined : states.watchRead(stored)
    sendReply(ctx.res, reply, { ...send, headers: { 'x-request-id': ctx.state.requestId }, dialect, watch })
  }
}

/** Returns the parameters of the path, which the router has set. */
function paramsOf(ctx: ParameterizedContext & { params?: Record<string, string> }): Record<string, string> {
  return ctx.params ?? {}
}

function relay(
  { provider, account }: StoredResponse,
  call: RelayCall,
  options: Pick<StoredResponseRouteOptions, 'provider'>,
): Promise<Reply> {
  return options.provider(provider).relay({ ...call, account, credential: forProvider(call.credential, provider) })
}

/** Answers for a response that the gateway stores. Throws `not_found`, `invalid_request`. */
function answerStored(
  content: string,
  { id, method, path, query }: { id: string; method: string; path: string; query: string },
): Reply {
  const conversation = readConversation(content)
  if (conversation === undefined || method === 'POST') throw responseNotFound(null)
  if (method === 'DELETE') return jsonReply({ id, object: 'response', deleted: true })
  if (path.endsWith('/input_items')) return jsonReply(listInputItems(conversation, new URLSearchParams(query)))
  return jsonReply(conversation.response)
}
