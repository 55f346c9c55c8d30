import { sessionOrder } from '../routes/agent-sessions.ts'
import { amount, anyOf, count, described, list, nullable, object, ref, text, time } from './shapes.ts'

const offer = object(
  { intent: anyOf('charge'), method: anyOf('stripe'), amount: text, currency: text, price_usd_per_call: amount },
  { resource: text, calls: count },
)

const session = {
  object: anyOf('session'),
  id: text,
  calls_total: count,
  calls_remaining: count,
  price_usd_per_call: amount,
  expires_at: time,
}

const entry = object({
  settled_at: time,
  amount: { ...text, description: 'US cents.' },
  currency: text,
  method: text,
  route: text,
  model: text,
  reference_sha256: { ...text, description: 'Of the payment’s name at Stripe.' },
  status: anyOf('delivered', 'captured'),
})

/** What agents that pay take and are answered. */
export const PAYMENT_SCHEMAS = {
  Offer: offer,
  Settled: entry,
  PaymentTerms: object({
    left_calls_given_back: {
      ...count,
      description:
        'Calls of a challenge or a session that may be left after the provider was asked, and are given back.',
    },
    cached_session_calls: {
      ...anyOf('not_counted'),
      description: 'Answers from a cache to earlier calls of a session.',
    },
    description: text,
  }),
  Quote: object({
    object: anyOf('quote'),
    resource: text,
    model: text,
    digest: { ...text, description: 'Of the body, as a challenge for it would have it.' },
    is_covered: { type: 'boolean', description: 'Whether the price covers what the call may cost.' },
    covers_provider_usd: amount,
    worst_case_provider_usd: nullable('number'),
    max_tokens: { ...nullable('integer'), description: 'The most that the price covers.' },
    offers: list(ref('Offer')),
    terms: ref('PaymentTerms'),
    expires_at: time,
  }),
  SessionOrder: described(sessionOrder),
  OpenedSession: object({ ...session, authorization: { ...text, description: 'Pays for each call.' } }),
  Session: object(session),
  SettledList: object({ data: list(ref('Settled')), has_more: { type: 'boolean' }, next_cursor: nullable('string') }),
  Discovery: object({
    spec_version: text,
    realm: text,
    payment_methods: list(
      object({
        method: text,
        wallet_provider: text,
        currency: text,
        status: anyOf('production_live', 'test_mode', 'not_configured'),
      }),
    ),
    routes: list(object({ path: text, method: text, price_usd_per_call: amount, category: text })),
    capabilities: { type: 'object' },
    terms: ref('PaymentTerms'),
  }),
  PaymentProblem: object({
    type: { ...text, format: 'uri' },
    title: text,
    status: { type: 'integer', const: 402 },
    detail: text,
  }),
} as const
