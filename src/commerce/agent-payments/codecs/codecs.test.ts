import { createHash } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { challenges, SECRET, text } from '../../../../test/support/challenges.ts'
import RECORDED from '../../../../test/support/recorded-credentials.json' with { type: 'json' }
import { canonicalJson } from '../../../core/json/canonical-json.ts'
import { fromBase64url, toBase64url } from './base64url.ts'
import { challengeId, isSignedWith, printChallenge, type UnsignedChallenge } from './challenge.ts'
import { parsePayment } from './credential.ts'
import { contentDigest } from './digest.ts'
import { printPaymentReceipt } from './payment-receipt.ts'
import { paymentProblem } from './problem.ts'

/**
 * Ids of the public conformance suite: github.com/tempoxyz/mpp-tools, conformance/vectors/challenge-id.json (version
 * 2.0.0, of draft-ietf-httpauth-payment, section 5.1.1). Members left out of a row are as in the first.
 */
const BASE = {
  secret: 'test-vector-secret-minimum-32-byte-secret',
  realm: 'api.example.com',
  method: 'tempo',
  intent: 'charge',
  request: { amount: '1000000' },
}
const COIN = '0x20c0000000000000000000000000000000000001'
const BARE_DIGEST = 'sha-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE'
interface Vector extends Partial<Omit<UnsignedChallenge, 'request'>> {
  id: string
  secret?: string
  request?: object
}
const VECTORS: readonly Vector[] = [
  { id: '6QDs0BmhrI_v67iWeCMvGqQJEFQ6ErWKlk7zi5xL6t0' },
  { id: 'ZcHgfEi5_Qyda9NQwUzamsCgCcWXw6N6EH2NLyaSTlg', expires: '2025-01-06T12:00:00Z' },
  { id: 'vwnOtW2kwdujK9_uC_taI2e6Jwq86Jwogvq9m--i8eQ', digest: BARE_DIGEST },
  { id: 'HSUJV7QH1E135PSDPlrZ5cLoozV3bv5T4vfVdS3Xyzk', expires: '2025-01-06T12:00:00Z', digest: BARE_DIGEST },
  { id: '1XJ-Ti0DACNe3E1zHvwH6OdnKlhUx6xKxDbhJyexng4', opaque: 'trace-123' },
  {
    id: 'qKB3Cm8efoWftvkRf43R5GxatYiXuZPxhs2kA3CvxGM',
    request: { amount: '1000' },
    opaque: 'eyJyb3V0ZSI6Ii9hcGkvcHJlbWl1bSJ9',
  },
  { id: '6QDs0BmhrI_v67iWeCMvGqQJEFQ6ErWKlk7zi5xL6t0', description: 'API access payment required' },
  {
    id: 'I8ZLhCXrskUbWuwYSSM0My-wk3mnL9_w8cDlEcs2UFo',
    request: { amount: '1000000', currency: '0x1234', recipient: '0xabcd' },
  },
  {
    id: 'W8sYOWDDrcuRcku27vjJoqLX0uAnBmql7qAOuQwdmPo',
    request: { amount: '1000000', currency: '0x1234', methodDetails: { chainId: 42431 } },
  },
  {
    id: 'iU2QdYw_u-prmGZWxm58jeBakeYE-ib_u77f9vcW76E',
    request: { amount: '1500', currency: 'USD', description: 'Access <premium> & analytics', recipient: 'merchant' },
  },
  { id: 'SMpxo_gPWGquX9vAZ-b_OIPsHO3kfdY2s73946Mnwc0', request: {} },
  { id: 'NiwWsOUeZDNPegltJVbOHVKR4hHbZR5tnoQ80DVrqyY', realm: 'payments.other.com' },
  { id: 'IPY59YD2ZWmf3yXnZxbQgYoYejrVB9Nh_rpSkrOeSG0', method: 'stripe' },
  { id: '3bUB3LSxOG-lexqNCMGiV-p_j1UeibqWlA-saIiwo5A', intent: 'session' },
  {
    id: '_pLIgk1zfLjIqa1aXziYSyyHZLQZQ1WXCBSa3-DK6_E',
    secret: 'test-secret-abc123-minimum-32-byte-secret',
    realm: 'api.tempo.xyz',
    request: {
      amount: '10000000',
      currency: COIN,
      recipient: '0x742d35Cc6634C0532925a3b844Bc9e7595f1B0F2',
      description: 'API access fee',
      externalId: 'order-12345',
    },
    expires: '2026-02-01T00:00:00Z',
    digest: 'sha-256=abc123def456',
  },
  {
    id: '-UB9jxfPEvTmFw7qvLmqJhDZ-lJ-noCp15ROxPHC4BE',
    secret: 'unicode-test-key-minimum-32-byte-secret',
    request: {
      amount: '100',
      currency: 'EUR',
      recipient: '0x1111111111111111111111111111111111111111',
      description: 'Payment for café ☕',
    },
  },
]

for (const [index, vector] of VECTORS.entries()) {
  test(`challenge: has the id of the public vector ${index + 1}`, (t) => {
    const { id, secret, request, ...rest } = { ...BASE, ...vector }
    const challenge = { ...rest, request: toBase64url(canonicalJson(request)) }
    t.is(challengeId(challenge, secret), id)
    t.true(isSignedWith({ ...challenge, id }, secret))
  })
}

test('challenge: mppx’s output for one of ours is read, and has our signature', (t) => {
  t.true(RECORDED.length >= 20)
  for (const { challenge, credential } of RECORDED) {
    const presented = parsePayment([credential])
    if (presented.kind !== 'payment') return t.fail(JSON.stringify(presented))
    t.true(isSignedWith(presented.challenge, SECRET))
    t.is(printChallenge(presented.challenge), challenge)
    t.is(presented.token, 'spt_1')
  }
})

test('challenge: a change of any member except the description breaks the signature', (t) => {
  let changes = 0
  fc.assert(
    fc.property(challenges, text, (challenge, other) => {
      for (const name of ['realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque', 'id'] as const) {
        if (challenge[name] === other) continue
        changes++
        t.false(isSignedWith({ ...challenge, [name]: other }, SECRET))
      }
      t.true(isSignedWith({ ...challenge, description: other }, SECRET))
      t.false(isSignedWith(challenge, 'another secret'))
    }),
    { numRuns: 200 },
  )
  t.true(changes > 1000)
})

test('challenge: quotes and backslashes are escaped, and values that no header can hold are refused', (t) => {
  const challenge = { id: 'i', realm: 'r', method: 'stripe', intent: 'charge', request: 'e30' }
  t.true(printChallenge({ ...challenge, description: 'a "b" \\ c' }).endsWith('description="a \\"b\\" \\\\ c"'))
  for (const description of ['two\r\nlines', 'caf\u00e9', '\u0000'])
    t.throws(() => printChallenge({ ...challenge, description }), { instanceOf: TypeError })
})

const VALID = { id: 'i', realm: 'r', method: 'stripe', intent: 'charge', request: 'e30' }
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const credential = (challenge: unknown, payload: unknown = { spt: 'spt_1' }) =>
  `Payment ${encode({ challenge, payload })}`

/** Forms of no credential; those of the public suite (conformance/vectors/authorization.json) among them. */
const MALFORMED: Readonly<Record<string, string>> = {
  'is the scheme alone': 'Payment',
  'is not base64url': 'Payment not-valid!!!',
  'is padded': `Payment ${Buffer.from(JSON.stringify({ challenge: VALID, payload: { spt: 'spt_12' } })).toString('base64')}`,
  'has bits to spare': 'Payment e31',
  'is no JSON': `Payment ${Buffer.from('not json').toString('base64url')}`,
  'is no object': 'Payment W10',
  'is not UTF-8': `Payment ${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}`,
  'has no challenge': `Payment ${encode({ payload: { spt: 'spt_1' } })}`,
  'has a challenge without an id': credential({ ...VALID, id: undefined }),
  'has a challenge with an empty id': credential({ ...VALID, id: '' }),
  'has a request that is no text': credential({ ...VALID, request: {} }),
  'has a request that is no JSON': credential({ ...VALID, request: 'bm90IGpzb24' }),
  'has a digest that is no text': credential({ ...VALID, digest: 7 }),
  'has no payload': credential(VALID, null),
  'has a token of another kind': credential(VALID, { spt: 'tok_1' }),
  'has a token that is no text': credential(VALID, { spt: ['spt_1'] }),
  'has two parts': `${credential(VALID)} again`,
  'is too long': credential(VALID, { spt: 'spt_1', more: 'x'.repeat(9000) }),
}

for (const [what, field] of Object.entries(MALFORMED))
  test(`credential: one that ${what} is malformed`, (t) => {
    t.is(parsePayment([field]).kind, 'malformed')
  })

test('credential: the scheme is case-insensitive, other schemes are none, and two payments are several', (t) => {
  t.is(parsePayment([credential(VALID).replace('Payment', 'pAYMENT')]).kind, 'payment')
  t.is(parsePayment([]).kind, 'none')
  t.is(parsePayment(['Bearer x', 'Paymentx y']).kind, 'none')
  t.is(parsePayment(['Bearer x', credential(VALID)]).kind, 'payment')
  t.is(parsePayment([credential(VALID), credential(VALID)]).kind, 'several')
})

test('credential: no other encoding of it is accepted', (t) => {
  const body = credential(VALID).slice('Payment '.length)
  const presented = parsePayment([`Payment ${body}`])
  t.is(presented.kind, 'payment')
  for (const other of [`${body}=`, `${body}==`, `${body}\n`, body.replaceAll('-', '+').concat('=')])
    t.not(parsePayment([`Payment ${other}`]).kind, 'payment')
})

test('base64url: only the encoder’s own output is decoded', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (each) => {
      if (each.isWellFormed() && !each.includes('\ufffd')) t.is(fromBase64url(toBase64url(each)), each)
    }),
  )
  for (const wrong of ['YQ==', 'YR', 'a b', '+/8', 'é']) t.is(fromBase64url(wrong), undefined)
})

test('digest: is that of RFC 9530, appendix B.2 style: colons around padded base64', (t) => {
  const body = Buffer.from('{"hello": "world"}\n')
  t.is(contentDigest(body), `sha-256=:${createHash('sha256').update(body).digest('base64')}:`)
  t.is(contentDigest(body), 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:')
})

test('receipt: is a text that mppx has read', (t) => {
  const receipt = {
    method: 'stripe',
    reference: 'pi_1',
    status: 'success',
    timestamp: '2026-11-22T03:00:00.000Z',
  } as const
  t.deepEqual(JSON.parse(Buffer.from(printPaymentReceipt(receipt), 'base64url').toString()), receipt)
})

test('problem: has the address, title and status that clients expect', (t) => {
  t.deepEqual(paymentProblem('verification-failed', 'why'), {
    type: 'https://paymentauth.org/problems/verification-failed',
    title: 'Payment Verification Failed',
    status: 402,
    detail: 'why',
  })
})
