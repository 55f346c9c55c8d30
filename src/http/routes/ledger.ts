import type { Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { ReceiptLog } from '../../core/ports/receipt-log.ts'
import type { RequestState } from '../request-context.ts'

/** Dependencies of the routes of the ledger. */
export interface LedgerRouteOptions {
  readonly log: ReceiptLog
}

type Routes = Readonly<Record<'head' | 'inclusion' | 'consistency', Middleware<RequestState>>>

/** The routes need no credential: more queries at once than this are refused. */
const MOST_AT_ONCE = 8

/** Creates the public routes of the ledger of receipts: its latest head, and proofs by it. */
export function ledgerRoutes({ log }: LedgerRouteOptions): Routes {
  const bounded = boundOf(MOST_AT_ONCE)
  return {
    /** `GET /.well-known/turnpike-ledger`: returns the ledger's name and its latest signed head. */
    head: async function ledgerHead(ctx) {
      const { origin, checkpoint } = await bounded(() => log.state())
      ctx.set('cache-control', 'no-cache')
      ctx.body = { origin, checkpoint: checkpoint ?? null }
    },
    /** `GET /v1/ledger/inclusion?leaf=<index>`: proves a leaf by the latest head. */
    inclusion: async function ledgerInclusion(ctx) {
      const index = wholeNumber('leaf', ctx.query.leaf)
      ctx.body = found(await bounded(() => log.inclusion(index)), `leaf ${index}`)
    },
    /** `GET /v1/ledger/consistency?from=<size>`: proves that an earlier tree is a prefix of the latest. */
    consistency: async function ledgerConsistency(ctx) {
      const size = wholeNumber('from', ctx.query.from)
      ctx.body = found(await bounded(() => log.consistency(size)), `tree of ${size} leaves`)
    },
  }
}

function found<Proof>(proof: Proof | undefined, name: string): Proof {
  if (proof === undefined) throw new GatewayError('not_found', `The ledger has no ${name}: it is smaller.`)
  return proof
}

function wholeNumber(name: string, text: unknown): number {
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text)
  throw new GatewayError('invalid_request', `${name}: expected a whole number of leaves, got \`${String(text)}\`.`)
}

/** Returns a runner of at most `most` jobs at once; throws `rate_limit_error` for more. */
function boundOf(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0
  return async (work) => {
    if (running >= most)
      throw new GatewayError('rate_limit_error', 'Too many requests to the ledger at once.', {
        headers: { 'retry-after': '1' },
      })
    running++
    try {
      return await work()
    } finally {
      running--
    }
  }
}
