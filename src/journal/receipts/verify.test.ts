import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { createReceiptKey, signReceiptV1 } from '../../../test/support/receipts.ts'
import type { Receipt } from '../../core/telemetry/receipt.ts'
import { parsePublicKeys, ReceiptKeyError } from './public-key.ts'
import type { ReceiptV1 } from './signature.ts'
import type { ReceiptKey } from './signing-key.ts'
import { NoReceipt, verifyReceipt } from './verify.ts'

const key = createReceiptKey()
const stranger = createReceiptKey()
const sign = (receipt: Partial<Receipt>, by: ReceiptKey) => JSON.parse(signReceiptV1(receipt, by)) as ReceiptV1
const signed = sign({}, key)
const verify = (receipt: unknown) => verifyReceipt(JSON.stringify(receipt), [key.public])

/** Returns the paths of all values, containers included. */
function pathsIn(value: unknown, base: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const path = [...base, name]
    return [path, ...pathsIn(member, path)]
  })
}

/** Returns a copy with another value at a path; `undefined` removes it. */
function changed(value: unknown, [name, ...rest]: readonly string[], to: unknown): unknown {
  if (name === undefined) return to
  // Safe: paths lead through objects and arrays only.
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  copy[name] = changed(copy[name], rest, to)
  return copy
}

const paths = pathsIn(signed)

test('receipt: verifies in any layout of its JSON', (t) => {
  const { isValid, checks, receipt } = verify(signed)
  t.true(isValid)
  t.deepEqual(
    checks.map(({ name, ok }) => `${name} ${ok}`),
    ['form true', 'key true', 'signature true'],
  )
  t.is(receipt?.id, signed.id)
  const reversed = Object.fromEntries(Object.entries(signed).reverse())
  t.true(verifyReceipt(`\n${JSON.stringify(reversed, undefined, 4)}\n`, [stranger.public, key.public]).isValid)
})

test('receipt: no member can be removed, emptied or replaced', (t) => {
  t.true(paths.length > 45, `${paths.length} members`)
  for (const path of paths)
    for (const to of [undefined, null, '', 0, true, [], {}]) {
      const forged = changed(signed, path, to)
      if (JSON.stringify(forged) === JSON.stringify(signed)) continue
      t.false(verify(forged).isValid, `${path.join('.')} = ${JSON.stringify(to)}`)
    }
})

test('receipt: any change of a value, however small, is detected', (t) => {
  let changes = 0
  const leaf = fc.constantFrom(...paths.filter((path) => typeof valueAt(signed, path) !== 'object'))
  fc.assert(
    fc.property(leaf, fc.nat(), fc.nat(), (path, at, by) => {
      const forged = changed(signed, path, nudged(valueAt(signed, path), at, by))
      t.false(verify(forged).isValid, path.join('.'))
      changes++
    }),
    { numRuns: 1000 },
  )
  t.true(changes >= 200)
})

function valueAt(value: unknown, path: readonly string[]): unknown {
  // Safe: the paths are the value's own.
  return path.reduce((part, name) => (part as Record<string, unknown>)[name], value)
}

/** Changes one character, or one number, of a value. */
function nudged(value: unknown, at: number, by: number): unknown {
  if (typeof value === 'number') return value + 1 + (by % 1000)
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return 'something'
  const place = at % Math.max(1, value.length)
  const letters = [...'abcdefgh0123456789_-AZ'].filter((letter) => letter !== value[place])
  return `${value.slice(0, place)}${letters[by % letters.length]}${value.slice(place + 1)}`
}

test('receipt: a signature has exactly one valid text, to its last character', (t) => {
  const { value } = signed.signature
  const forgeries = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map(
    (letter) => value.slice(0, -1) + letter,
  )
  const valid = forgeries.filter(
    (each) => verify({ ...signed, signature: { ...signed.signature, value: each } }).isValid,
  )
  t.deepEqual(valid, [value])
})

test('receipt: nothing can be added, anywhere', (t) => {
  for (const path of [[], ...paths.filter((each) => typeof valueAt(signed, each) === 'object')]) {
    const container = valueAt(signed, path)
    if (typeof container !== 'object' || container === null || Array.isArray(container)) continue
    t.false(verify(changed(signed, [...path, 'more'], 1)).isValid, path.join('.'))
    const text = JSON.stringify(changed(signed, path, { ...container, __PROTO__: {} }))
    t.false(verifyReceipt(text.replace('__PROTO__', '__proto__'), [key.public]).isValid, path.join('.'))
  }
})

test('receipt: a repeated name makes it invalid', (t) => {
  const text = JSON.stringify(signed)
  const twice = text.replace('"cost":{', '"cost":{"provider_usd":"0.000000000",')
  t.throws(() => verifyReceipt(twice, [key.public]), { instanceOf: NoReceipt, message: /repeats a name/ })
  t.throws(() => verifyReceipt(`{"\\u0076":2,${text.slice(1)}`, [key.public]), { instanceOf: NoReceipt })
})

test('receipt: another key does not verify it, whichever id it claims', async (t) => {
  const { isValid, checks } = verifyReceipt(JSON.stringify(signed), [stranger.public])
  t.false(isValid)
  t.regex(String(checks.at(-1)?.says), new RegExp(`${key.public.id}.*${stranger.public.id}`))
  const forged = sign(signed, { privateKey: stranger.privateKey, public: key.public })
  t.false(verify(forged).isValid)
  t.false(verify(sign({ key_id: stranger.public.id }, key)).isValid)
})

test('receipt: a text that is no receipt is distinguished from a forged one', (t) => {
  for (const text of ['', 'hello', '[]', 'null', '"x"', '{', `${'['.repeat(1e5)}`, '{"a":1,"a":2}'])
    t.throws(() => verifyReceipt(text, [key.public]), { instanceOf: NoReceipt })
  t.deepEqual(
    verify({}).checks.map(({ name, ok }) => `${name} ${ok}`),
    ['form false'],
  )
})

test('receipt keys: are read in every published form', (t) => {
  const { raw, key: publicKey } = key.public
  const pem = (each: KeyObject, type: 'spki' | 'pkcs8') => String(each.export({ type, format: 'pem' }))
  const forms = [
    raw,
    `${raw}\n`,
    pem(publicKey, 'spki'),
    pem(key.privateKey, 'pkcs8'),
    JSON.stringify({ keys: [{ kid: 'x', kty: 'OKP', crv: 'Ed25519', x: raw }] }),
  ]
  for (const form of forms)
    t.deepEqual(
      parsePublicKeys(form).map(({ id }) => id),
      [key.public.id],
    )
})

test('receipt keys: a text that is no key is refused', (t) => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const wrong = ['', 'x', '{}', '{"keys":[]}', '{"keys":[{}]}', '{"keys":[null]}', '{', `${key.public.raw}x`]
  for (const text of [...wrong, String(publicKey.export({ type: 'spki', format: 'pem' }))])
    t.throws(() => parsePublicKeys(text), { instanceOf: ReceiptKeyError }, text)
})
