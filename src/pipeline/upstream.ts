import type { Reply } from '../core/reply/reply.ts'
import type { Exchange } from '../core/request/exchange.ts'
import type { PipelineContext } from './context.ts'

/** What calls a model's providers. */
export interface Upstream {
  /** Answers with the exchange's targets. Throws `upstream_error` and what else a provider throws. */
  complete(exchange: Exchange): Promise<Reply>
}

/** Creates the handler inside all steps of a pipeline: calls a provider, once the request may. */
export function createUpstreamHandler(providers: Upstream): (ctx: PipelineContext) => Promise<void> {
  return async function upstream({ state: { exchange } }) {
    await exchange.enterUpstream()
    exchange.reply = await providers.complete(exchange)
  }
}
