import type { Reply } from '../core/reply/reply.ts'
import type { Exchange } from '../core/request/exchange.ts'
import type { PipelineContext } from './context.ts'

/** What calls a model's providers. */
export interface Upstream {
  /** Answers with the exchange's targets. Throws `upstream_error` and what else a provider throws. */
  complete(exchange: Exchange): Promise<Reply>
}

/**
 * Creates the handler inside all steps of a pipeline: calls a provider. A plan's call is held before, unless a guard has
 * held it along with its money: no provider is called for a caller whose plan has none left.
 */
export function createUpstreamHandler(providers: Upstream): (ctx: PipelineContext) => Promise<void> {
  return async function upstream({ state: { exchange } }) {
    await exchange.fee?.hold()
    exchange.fee?.markAsked()
    exchange.markAsked()
    exchange.reply = await providers.complete(exchange)
  }
}
