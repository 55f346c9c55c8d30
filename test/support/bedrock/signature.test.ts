import test from 'ava'
import { checkSignature, type SignatureRules } from './signature.ts'

/** The case `get-vanilla` of the test suite that AWS publishes with Signature Version 4. */
const RULES: SignatureRules = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 'service',
  nowMs: Date.UTC(2015, 7, 30, 12, 36),
}
const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, ' +
  'Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'
const REQUEST = {
  method: 'GET',
  url: '/',
  headers: { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z', authorization: AUTHORIZATION },
  raw: Buffer.alloc(0),
}

test('signature: the published example is accepted', (t) => {
  t.is(checkSignature(REQUEST, RULES), undefined)
})

test('signature: a byte of the body, the path, the host or the secret invalidates it', (t) => {
  const faults = [
    checkSignature({ ...REQUEST, raw: Buffer.from('x') }, RULES),
    checkSignature({ ...REQUEST, url: '/x' }, RULES),
    checkSignature({ ...REQUEST, headers: { ...REQUEST.headers, host: 'example.com' } }, RULES),
    checkSignature(REQUEST, { ...RULES, secretAccessKey: 'other' }),
  ]
  for (const fault of faults) t.regex(fault?.message ?? '', /^The request signature we calculated does not match/)
})

test('signature: another region, an old date, a missing token and an unsigned header are refused', (t) => {
  t.regex(checkSignature(REQUEST, { ...RULES, region: 'eu-west-1' })?.message ?? '', /scoped/)
  t.regex(checkSignature(REQUEST, { ...RULES, nowMs: Date.UTC(2015, 7, 30, 12, 42) })?.message ?? '', /expired/)
  t.is(checkSignature(REQUEST, { ...RULES, sessionToken: 'token' })?.name, 'UnrecognizedClientException')
  const headers = { ...REQUEST.headers, 'content-type': 'application/json' }
  t.regex(checkSignature({ ...REQUEST, headers }, RULES)?.message ?? '', /must be a 'SignedHeader'/)
})
