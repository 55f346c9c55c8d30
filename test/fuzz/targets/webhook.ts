import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import type { BillingParts } from '../../../src/commerce/billing/parts.ts'
import { openEvent } from '../../../src/commerce/billing/signature.ts'
import { createStripeClient } from '../../../src/commerce/billing/stripe-client.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { createPicker, type Fuzzer, promise } from '../fuzzer.ts'

const SECRETS = ['whsec_first_0123456789', 'whsec_second_0123456789']
const OLD_S = 301
const FUTURE_S = 310
const parts = {
  settings: { webhookSecrets: SECRETS },
  stripe: createStripeClient({ secretKey: 'sk_test_0123456789' }),
  clock: { nowMs: () => Date.now() },
} as unknown as BillingParts // safe: opening an event uses nothing else
const HEADERS = [
  't=NOW,v1=SIGN',
  't=NOW,v1=00,v1=SIGN',
  't=OLD,v1=SIGNOLD',
  't=OLD,v1=SIGN',
  'v1=SIGN,t=NOW,v0=x',
  't=NOW,t=OLD,v1=SIGNOLD',
  't=NOW,v0=SIGN',
  't=FUTURE,v1=SIGNFUTURE',
]
const BODIES = [
  '{"id":"evt_1","type":"invoice.paid","object":"event","data":{"object":{"id":"in_1"}}}',
  '{"id":"evt_1"}',
  'null',
  '[]',
  '{',
  '',
]

/**
 * Deliveries of webhooks: a header, a line end, a body. One is opened only if one of the secrets has signed exactly these
 * bytes within five minutes; every refusal is `invalid_request`.
 */
export const webhook: Fuzzer = {
  name: 'webhook',
  seeds: fc.tuple(fc.constantFrom(...HEADERS), fc.constantFrom(...BODIES)).map((both) => both.join('\n')),
  words: [
    't=',
    'v1=',
    ',',
    '=',
    'NOW',
    'OLD',
    'SIGN',
    'SIGNOLD',
    't=99999999999,',
    't=NaN,',
    ' ',
    '\n',
    '"type":"charge.refunded",',
  ],
  mostMutations: 2,
  outcomes: ['opened', 'refused', 'signed, but no event'],
  async run({ text, salt }) {
    const pick = createPicker(salt)
    const split = text.indexOf('\n')
    const body = Buffer.from(text.slice(split + 1), 'latin1')
    const nowS = Math.floor(Date.now() / 1000)
    const secret = pick(4) === 0 ? 'whsec_stranger' : (SECRETS[pick(SECRETS.length)] ?? '')
    const signedBody = pick(4) === 0 ? Buffer.concat([body, Buffer.from(' ')]) : body
    const sign = (atS: number) => hmac(secret, atS, signedBody)
    const signature = text
      .slice(0, Math.max(0, split))
      .replaceAll('SIGNOLD', sign(nowS - OLD_S))
      .replaceAll('SIGNFUTURE', sign(nowS + FUTURE_S))
      .replaceAll('SIGN', sign(nowS))
      .replaceAll('NOW', String(nowS))
      .replaceAll('OLD', String(nowS - OLD_S))
      .replaceAll('FUTURE', String(nowS + FUTURE_S))
    const isGenuine = SECRETS.some((each) => isSigned(signature, each, { body, nowS }))
    try {
      const event = await openEvent(parts, { body, signature })
      promise(isGenuine, `opened ${signature}`)
      promise(
        [event.id, event.type, event.object].every((member) => /^[!-~]+$/.test(member)),
        'it is an event',
      )
      return 'opened'
    } catch (error) {
      promise(error instanceof GatewayError && error.code === 'invalid_request', `threw ${error}`)
      return isGenuine ? 'signed, but no event' : 'refused'
    }
  },
}

function hmac(secret: string, atS: number, body: Buffer): string {
  return createHmac('sha256', secret).update(`${atS}.`).update(body).digest('hex')
}

/** Checks that the header has times within five minutes, and a signature of the last of them and the body. */
function isSigned(header: string, secret: string, { body, nowS }: { body: Buffer; nowS: number }): boolean {
  const items = header.split(',').map((item) => item.split('='))
  const times = items.flatMap(([name, value = '']) => (name === 't' ? [Number.parseInt(value, 10)] : []))
  const given = items.flatMap(([name, value = '']) => (name === 'v1' ? [value] : []))
  const [atS] = times.slice(-1)
  if (atS === undefined || !(atS >= nowS - OLD_S + 1)) return false
  if (times.some((time) => time > nowS + FUTURE_S - 10)) return false
  return given.includes(hmac(secret, atS, body))
}
