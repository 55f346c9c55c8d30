import type { Middleware } from 'koa'
import { contentDigest } from '../../commerce/agent-payments/codecs/digest.ts'
import { coverageOf } from '../../commerce/agent-payments/coverage.ts'
import { type Discovery, discoveryDocument, ledgerEntry, TERMS } from '../../commerce/agent-payments/discovery.ts'
import { GatewayError } from '../../core/errors.ts'
import { toUsd } from '../../core/money/usd.ts'
import type { SettledPage } from '../../core/ports/payments.ts'
import { clientSubnet } from '../client-subnet.ts'
import { parseListLimit } from '../list-limit.ts'
import type { RequestState } from '../request-context.ts'
import { AGENT_PATH, type AgentRouteOptions } from './agent.ts'
import { FEWEST_CALLS, SESSIONS_PATH } from './agent-sessions.ts'

const QUOTE_TTL_MS = 5 * 60_000
const FRESH_FOR = 'public, max-age=300'
const SOON_OTHERWISE = 'public, max-age=30'
const MOST_IN_ONE_LIST = 100
const USUAL_LIST = 20
const CENTS = 100

/** `GET /.well-known/mpp`: returns prices and payment methods. */
export function discoveryRoute(discovery: Discovery): Middleware<RequestState> {
  return async function discover(ctx) {
    const readiness = await discovery.readiness()
    ctx.set('cache-control', readiness === 'not_configured' ? SOON_OTHERWISE : FRESH_FOR)
    ctx.body = discoveryDocument(discovery, { readiness, paths: [AGENT_PATH] })
  }
}

/**
 * `POST /v1/agent/quote`: returns the cost of a body on the paid route, and whether the price covers it. Stores
 * nothing.
 */
export function quoteRoute(
  options: Pick<
    AgentRouteOptions,
    'dialect' | 'targetsOf' | 'intakes' | 'coverage' | 'prices' | 'challengeLimiter' | 'nowMs'
  >,
): Middleware<RequestState> {
  const { dialect, targetsOf, intakes, coverage, prices, challengeLimiter, nowMs } = options
  return async function quote(ctx) {
    ctx.state.dialect = dialect
    await challengeLimiter.admit(ctx.req)
    const bytes = await intakes.strangers.readJson(ctx.req, { sender: clientSubnet(ctx.req.socket.remoteAddress) })
    const client = dialect.parse(bytes)
    const targets = targetsOf(client.document.model)
    const atMs = nowMs()
    const asked = { request: client.canonical, targets, client }
    const { worstNanoUsd, coversNanoUsd, mostTokens } = coverageOf(asked, { ...coverage, atMs })
    ctx.set('cache-control', 'no-store')
    ctx.body = {
      object: 'quote',
      resource: AGENT_PATH,
      model: client.document.model,
      digest: contentDigest(bytes),
      is_covered: worstNanoUsd <= coversNanoUsd,
      covers_provider_usd: toUsd(coversNanoUsd),
      worst_case_provider_usd: toUsd(worstNanoUsd),
      max_tokens: mostTokens,
      offers: [
        {
          intent: 'charge',
          method: 'stripe',
          amount: String(prices.callCents),
          currency: 'usd',
          price_usd_per_call: prices.callCents / CENTS,
        },
        {
          intent: 'charge',
          method: 'stripe',
          amount: String(FEWEST_CALLS * prices.sessionCallCents),
          currency: 'usd',
          resource: SESSIONS_PATH,
          calls: FEWEST_CALLS,
          price_usd_per_call: prices.sessionCallCents / CENTS,
        },
      ],
      terms: TERMS,
      expires_at: new Date(atMs + QUOTE_TTL_MS).toISOString(),
    }
  }
}

/** `GET /v1/agent/ledger?cursor=…&limit=…`: lists settled payments, newest first; public, without data of payers. */
export function ledgerRoute({
  discovery: { store },
  challengeLimiter,
}: { discovery: Discovery } & Pick<AgentRouteOptions, 'challengeLimiter'>): Middleware<RequestState> {
  return async function ledger(ctx) {
    await challengeLimiter.admit(ctx.req)
    const { cursor, limit: asked } = ctx.query
    const limit = asked === undefined ? USUAL_LIST : parseListLimit(String(asked), MOST_IN_ONE_LIST)
    const before = cursor === undefined ? undefined : parseCursor(String(cursor))
    // One more than the page, to know whether there is a next page.
    const found = await store.listSettled({ before, limit: limit + 1 })
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    const hasMore = found.length > limit
    ctx.body = {
      data: shown.map(ledgerEntry),
      has_more: hasMore,
      next_cursor: hasMore && last ? printCursor(last) : null,
    }
  }
}

function printCursor({ capturedAtMs, challengeId }: NonNullable<SettledPage['before']>): string {
  return `${capturedAtMs}.${challengeId}`
}

function parseCursor(text: string): NonNullable<SettledPage['before']> {
  const [, atMs, challengeId] = /^(\d{1,15})\.([\w-]{43})$/.exec(text) ?? []
  if (atMs !== undefined && challengeId !== undefined) return { capturedAtMs: Number(atMs), challengeId }
  throw new GatewayError('invalid_request', 'cursor: expected the `next_cursor` of a page before.')
}
