import type { ParameterizedContext } from 'koa'
import type { RelayCall } from '../core/ports/provider.ts'
import type { Reply } from '../core/reply/reply.ts'
import type { Caller } from '../core/request/caller.ts'
import { ClientRequest } from '../core/request/client-request.ts'
import { Exchange, type Target } from '../core/request/exchange.ts'
import type { RequestDocument } from '../core/request/request.ts'
import type { PipelineContext } from '../pipeline/context.ts'
import type { RunnablePipeline } from '../pipeline/pipelines.ts'
import type { RequestState } from './request-context.ts'

/** A call to a provider outside of the pipeline, whose body holds content of the caller. */
export interface GuardedCall {
  readonly pipeline: Pick<RunnablePipeline, 'printed' | 'guards' | 'runGuards'>
  readonly call: RelayCall
  readonly caller: Caller
  readonly document: RequestDocument
  readonly target: Target
  /** Sends a body to the provider. */
  readonly send: (body: Buffer) => Promise<Reply>
}

/**
 * Sends a body as the pipeline's guards of content have changed it; unchanged where the pipeline has none. Throws what these
 * throw. The call is no request of a conversation: it counts no turn, and has no row.
 */
export async function sendGuarded(ctx: ParameterizedContext<RequestState>, guarded: GuardedCall): Promise<Reply> {
  const { pipeline, document, send } = guarded
  if (pipeline.guards.length === 0) return send(document.bytes)
  const exchange = exchangeOf(guarded)
  // A state of its own: observers take an exchange in the context's for a request to a model.
  const own = Object.create(ctx, { state: { value: { ...ctx.state, exchange } } }) as PipelineContext
  try {
    await pipeline.runGuards(own, async ({ state }) => {
      state.exchange.reply = await send(state.exchange.client.document.bytes)
    })
  } finally {
    exchange.close()
    exchange.cancelUnopened()
  }
  const { reply } = exchange
  if (reply === undefined) throw new Error('a plugin that guards content has answered without a reply')
  return reply
}

function exchangeOf({ pipeline, call, caller, document, target }: GuardedCall): Exchange {
  return new Exchange({
    id: call.requestId,
    route: 'messages',
    caller,
    credential: call.credential,
    headers: call.headers,
    query: call.query,
    client: new ClientRequest(document),
    request: undefined,
    targets: [target],
    signal: call.signal,
    reply: undefined,
    pipeline: pipeline.printed,
    trace: [],
    edits: [],
    calls: [],
    supersededReplies: [],
    stored: {},
  })
}
