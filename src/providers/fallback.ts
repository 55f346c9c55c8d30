import { GatewayError } from '../core/errors.ts'
import type { Exchange, Target } from '../core/exchange.ts'
import type { Provider } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'

const TOO_MANY_REQUESTS = 429

/**
 * Asks the exchange's targets one after another until one answers. The next is asked when a provider has failed after all
 * its tries (5xx, a broken connection, a time-out) or is still over its rate limit; never once a reply has begun, and not
 * for what is wrong with the request. Throws what the first failure was, or the signal's reason.
 */
export async function completeWithFallback(exchange: Exchange, get: (name: string) => Provider): Promise<Reply> {
  let failure: unknown
  let limited: Reply | undefined
  for (const [index, target] of exchange.targets.entries()) {
    const isLast = index === exchange.targets.length - 1
    try {
      const reply = await get(target.provider).complete(exchange, target)
      const passesOn = reply.status === TOO_MANY_REQUESTS && !isLast
      record(exchange, target, { outcome: passesOn ? 'failed' : 'answered', status: reply.status })
      if (!passesOn) return named(reply, target)
      limited ??= named(reply, target)
    } catch (error) {
      exchange.signal.throwIfAborted()
      record(exchange, target, { outcome: 'failed', status: undefined })
      // A rate limit before it was the first failure, and says when to come again.
      if (limited === undefined) failure ??= error
      if (index === 0 && !isFailureOfProvider(error)) break
    }
  }
  if (limited !== undefined && failure === undefined) return limited
  throw failure
}

/** A substitute that cannot be asked this, or not by this caller, is passed over like one that is down. */
function isFailureOfProvider(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'upstream_error'
}

function record(
  exchange: Exchange,
  target: Target,
  { outcome, status }: { outcome: 'answered' | 'failed'; status: number | undefined },
): void {
  exchange.recordCall({ ...target, outcome, status })
}

/** Says in the reply's headers who gave it. */
function named(reply: Reply, { provider, model }: Target): Reply {
  const name = `${provider}/${model}`
  // A model's name is the client's own text: only what a header may carry is repeated.
  reply.headers['x-svc-model'] = PRINTABLE.test(name) ? name : encodeURI(name.toWellFormed())
  return reply
}

const PRINTABLE = /^[\x21-\x7e]+$/
