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
  method: { ...text, description: '`stripe`, or `sandbox`: no money has moved.' },
  route: text,
  model: text,
  reference_sha256: { ...text, description: 'SHA-256 of the payment’s id at Stripe.' },
  status: anyOf('delivered', 'captured'),
})

/** Schemas of the routes of agent payments. */
export const PAYMENT_SCHEMAS = {
  Offer: offer,
  Settled: entry,
  PaymentTerms: object({
    left_calls_given_back: {
      ...count,
      description:
        'Most calls of a challenge or prepaid session that are given back although the client disconnected after the provider call.',
    },
    cached_session_calls: {
      ...anyOf('not_counted'),
      description: 'Cached replies to earlier calls of a session.',
    },
    description: text,
  }),
  Quote: object({
    object: anyOf('quote'),
    resource: text,
    model: text,
    digest: { ...text, description: 'Digest of the body, as in a challenge for it.' },
    is_covered: { type: 'boolean', description: 'Whether the price covers what the call may cost.' },
    covers_provider_usd: amount,
    worst_case_provider_usd: nullable('number'),
    max_tokens: { ...nullable('integer'), description: 'The largest `max_tokens` that the price covers.' },
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
        status: anyOf('production_live', 'test_mode', 'sandbox', 'not_configured'),
      }),
    ),
    routes: list(object({ path: text, method: text, price_usd_per_call: amount, category: text })),
    capabilities: { type: 'object' },
    terms: ref('PaymentTerms'),
  }),
  SandboxOrder: object(
    { amount: { ...count, description: 'Most cents that the token pays.' } },
    { currency: anyOf('usd'), expires_at: { ...count, description: 'Seconds since 1970. Default: in five minutes.' } },
  ),
  SandboxToken: object({
    object: anyOf('sandbox.granted_token'),
    sandbox: { type: 'boolean' },
    id: { ...text, description: 'The token, for `payload.spt` of a credential.' },
    usage_limits: object({ currency: text, max_amount: count, expires_at: count }),
  }),
  PaymentProblem: object({
    type: { ...text, format: 'uri' },
    title: text,
    status: { type: 'integer', const: 402 },
    detail: text,
  }),
} as const
