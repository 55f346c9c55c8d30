import { GatewayError } from '../core/errors.ts'
import type { Provider } from '../core/ports/provider.ts'
import type { Reply } from '../core/reply/reply.ts'
import type { Exchange, Target } from '../core/request/exchange.ts'

const TOO_MANY_REQUESTS = 429
const FIRST_ERROR_STATUS = 400

/** Codes on which the next target is tried: the provider failed, or no connection to it is free. */
const PASSED_ON: ReadonlySet<string> = new Set(['upstream_error', 'service_unavailable'])

/** A target's failure: its error, or a reply that counts as one. */
type Failure = { readonly error: unknown } | { readonly reply: Reply }

/**
 * Calls the exchange's targets one after another until one replies. The next is called when the first has failed after all
 * its tries (5xx, a broken connection, a time-out) or is still over its rate limit; never once a reply has begun, and not
 * for an invalid request. A fallback that refuses is skipped. When all fail, the first one's failure is returned to the
 * client. Throws that, or the signal's reason.
 */
export async function completeWithFallback(exchange: Exchange, get: (name: string) => Provider): Promise<Reply> {
  let first: Failure | undefined
  for (const target of exchange.targets) {
    const answer = await ask(exchange, target, { get, isSubstitute: first !== undefined })
    if ('status' in answer) return answer
    first ??= answer
    if (!passesOn(first)) break
  }
  if (first !== undefined && 'reply' in first) return first.reply
  throw first?.error
}

interface Asking {
  readonly get: (name: string) => Provider
  readonly isSubstitute: boolean
}

async function ask(exchange: Exchange, target: Target, { get, isSubstitute }: Asking): Promise<Reply | Failure> {
  try {
    const reply = named(await get(target.provider).complete(exchange, target), target)
    const { status } = reply
    const hasFailed = isSubstitute ? status >= FIRST_ERROR_STATUS : status === TOO_MANY_REQUESTS
    exchange.recordCall({ ...target, outcome: hasFailed ? 'failed' : 'answered', status })
    return hasFailed ? { reply } : reply
  } catch (error) {
    exchange.signal.throwIfAborted()
    // An error that is not a refusal is a bug of the gateway, which a fallback must not hide.
    if (!(error instanceof GatewayError)) throw error
    exchange.recordCall({ ...target, outcome: 'failed', status: undefined })
    return { error }
  }
}

/** Returns true when another target may succeed. */
function passesOn(failure: Failure): boolean {
  return 'reply' in failure || (failure.error instanceof GatewayError && PASSED_ON.has(failure.error.code))
}

/** Adds the target's name to the reply's headers. */
function named(reply: Reply, { provider, model }: Target): Reply {
  const name = `${provider}/${model}`.slice(0, LONGEST_NAME)
  // A model's name is the client's own text: only characters valid in a header are repeated.
  reply.headers['x-svc-model'] = PRINTABLE.test(name) ? name : encodeURI(name.toWellFormed())
  return reply
}

const PRINTABLE = /^[\x21-\x7e]+$/
/** In UTF-16 units. Clients accept 8 to 16 KB of headers in all. */
const LONGEST_NAME = 300
