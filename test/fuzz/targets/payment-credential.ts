import fc from 'fast-check'
import { Challenges } from '../../../src/commerce/agent-payments/challenges.ts'
import type { Challenge } from '../../../src/commerce/agent-payments/codecs/challenge.ts'
import { parsePayment } from '../../../src/commerce/agent-payments/codecs/credential.ts'
import { type Fuzzer, promise } from '../fuzzer.ts'

const ROUTE = '/v1/agent/messages'
const options = {
  realm: 'api.example.com',
  networkId: 'profile_1',
  store: { openWindow: async () => 1_700_000_000_000 },
  monotonicMs: () => 0,
}
const ours = new Challenges({ ...options, secrets: ['a'.repeat(40), 'b'.repeat(40)] })
const theirs = new Challenges({ ...options, secrets: ['c'.repeat(40)] })
const issue = (by: Challenges, digest: string) => by.issue({ route: ROUTE, digest, amountCents: 1 })
const ISSUED = await Promise.all(['sha-256=:YQ==:', 'sha-256=:Yg==:'].map((digest) => issue(ours, digest)))
const FOREIGN = await issue(theirs, 'sha-256=:YQ==:')

const jsonOf = (challenge: object, payload: object = { spt: 'spt_abc' }) => JSON.stringify({ challenge, payload })
const SEEDS = [
  ...ISSUED.map((challenge) => jsonOf(challenge)),
  jsonOf({ ...ISSUED[0], description: 'one call' }),
  jsonOf({ ...ISSUED[0], request: ISSUED[1]?.request, opaque: ISSUED[1]?.opaque }),
  jsonOf(FOREIGN),
  jsonOf({ ...ISSUED[0], intent: 'session' }, { action: 'use', session_token: `sst_${'x'.repeat(43)}` }),
]
const BOUND = ['id', 'realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'] as const

/**
 * Payment credentials: whatever is read has a token of the right form, and only a challenge that we have issued, all of
 * its signed members as they were, is known again; what cannot be read is said to be malformed, and nothing throws.
 */
export const paymentCredential: Fuzzer = {
  name: 'payment-credential',
  seeds: fc.constantFrom(...SEEDS),
  words: [
    '|',
    '"digest":',
    '"expires":"2099-01-01T00:00:00Z",',
    '"realm":',
    '"__proto__":{',
    ',',
    '\\u0061',
    'spt_',
    '=',
    'é',
    '""',
  ],
  mostMutations: 2,
  outcomes: ['ours', 'not ours', 'malformed', 'none'],
  run({ text, salt }) {
    const encoded = Buffer.from(text, 'latin1').toString('base64url')
    const field = [`Payment ${encoded}`, `payment  ${encoded} `, `Payment ${encoded}`, text][salt % 4] ?? text
    const presented = parsePayment([field])
    if (presented.kind !== 'payment' && presented.kind !== 'session') return presented.kind
    const { challenge, token } = presented
    promise(/^(spt|sst)_[\w-]{1,250}$/.test(token), `the token ${token}`)
    promise(
      Object.values(challenge).every((member) => typeof member === 'string'),
      'members are texts',
    )
    const own = ours.recognise(challenge, ROUTE)
    promise((own !== undefined) === ISSUED.some((issued) => isSame(challenge, issued)), JSON.stringify(challenge))
    promise(ours.recognise(challenge, '/v1/agent/sessions') === undefined, 'another route')
    return own === undefined ? 'not ours' : 'ours'
  },
}

function isSame(challenge: Challenge, issued: Challenge): boolean {
  return BOUND.every((name) => challenge[name] === issued[name])
}
