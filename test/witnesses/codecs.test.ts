import test from 'ava'
import fc from 'fast-check'
import { Credential, Receipt, Challenge as Theirs } from 'mppx'
import { isSignedWith, printChallenge } from '../../src/commerce/agent-payments/codecs/challenge.ts'
import { parsePayment } from '../../src/commerce/agent-payments/codecs/credential.ts'
import { printPaymentReceipt } from '../../src/commerce/agent-payments/codecs/payment-receipt.ts'
import { challenges, SECRET } from '../support/challenges.ts'
import RECORDED from '../support/recorded-credentials.json' with { type: 'json' }

/** The credential that mppx sends for a printed challenge. */
const credentialFor = (printed: string): string =>
  Credential.serialize(Credential.from({ challenge: Theirs.deserialize(printed), payload: { spt: 'spt_1' } }))

test('challenge: mppx reads what we print, and finds our signature good', (t) => {
  fc.assert(
    fc.property(challenges, (challenge) => {
      const read = Theirs.deserialize(printChallenge(challenge))
      t.is(read.id, challenge.id)
      t.is(read.realm, challenge.realm)
      t.is(read.digest, challenge.digest)
      t.true(Theirs.verify(read, { secretKey: SECRET }))
    }),
    { numRuns: 200 },
  )
})

test('challenge: we read what mppx sends for it, and find our own signature', (t) => {
  fc.assert(
    fc.property(challenges, (challenge) => {
      const presented = parsePayment([credentialFor(printChallenge(challenge))])
      if (presented.kind !== 'payment') return t.fail(JSON.stringify(presented))
      t.true(isSignedWith(presented.challenge, SECRET))
      t.is(presented.challenge.request, challenge.request)
      t.is(presented.challenge.opaque, challenge.opaque)
      t.is(presented.token, 'spt_1')
    }),
    { numRuns: 200 },
  )
})

test('receipt: mppx reads what we print', (t) => {
  const receipt = {
    method: 'stripe',
    reference: 'pi_1',
    status: 'success',
    timestamp: '2026-11-22T03:00:00.000Z',
  } as const
  t.deepEqual({ ...Receipt.deserialize(printPaymentReceipt(receipt)) } as object, receipt)
  t.is(Receipt.deserialize(printPaymentReceipt({ ...receipt, externalId: 'ses_1' })).externalId, 'ses_1')
})

test('credential: mppx still writes what was recorded of it', (t) => {
  for (const { challenge, credential } of RECORDED) t.is(credentialFor(challenge), credential)
})
