import fc from 'fast-check'
import { toBase64url } from '../../src/commerce/agent-payments/codecs/base64url.ts'
import { challengeId } from '../../src/commerce/agent-payments/codecs/challenge.ts'
import { contentDigest } from '../../src/commerce/agent-payments/codecs/digest.ts'
import { canonicalJson } from '../../src/core/json/canonical-json.ts'

/** Secret that signs the generated challenges. */
export const SECRET = 's'.repeat(40)

/** Text that a header can hold. */
export const text = fc.stringMatching(/^[ -~]{1,40}$/).filter((each) => !each.includes('|'))

/** Signed challenges, optional members included. */
export const challenges = fc
  .record(
    {
      realm: text,
      method: fc.constantFrom('stripe', 'tempo'),
      intent: fc.constantFrom('charge', 'session'),
      request: fc
        .dictionary(
          fc.string({ minLength: 1 }).filter((name) => name !== '__proto__' && name.isWellFormed()),
          fc.integer(),
        )
        .map((value) => toBase64url(canonicalJson(value))),
      expires: fc.constant('2026-11-22T03:00:00.000Z'),
      digest: fc.uint8Array().map(contentDigest),
      description: text,
      opaque: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), text).map((value) => toBase64url(canonicalJson(value))),
    },
    { requiredKeys: ['realm', 'method', 'intent', 'request'] },
  )
  .map((challenge) => ({ ...challenge, id: challengeId(challenge, SECRET) }))
