import type { Reply } from '../core/reply/reply.ts'
import type { Exchange } from '../core/request/exchange.ts'
import type { PipelineContext } from './context.ts'

/** Calls a model's providers. */
export interface Upstream {
  /** Returns the reply of the exchange's targets. Throws `upstream_error` and other errors of providers. */
  complete(exchange: Exchange): Promise<Reply>
}

/** Creates the handler inside all steps of a pipeline: it calls a provider, once the request is allowed to. */
export function createUpstreamHandler(providers: Upstream): (ctx: PipelineContext) => Promise<void> {
  return async function upstream({ state: { exchange } }) {
    await exchange.enterUpstream()
    const reply = await providers.complete(exchange)
    exchange.stored.watch?.(exchange, reply)
    exchange.reply = reply
  }
}
