import test from 'ava'
import { Placeholders } from './placeholders.ts'
import { createRestorer } from './restore.ts'

const SCOPE = { key: Buffer.alloc(32, 1), caller: 'key:1', conversation: 'conv_1' }

function openPlaceholders() {
  const placeholders = new Placeholders(SCOPE)
  return {
    placeholders,
    mail: placeholders.of('email', 'anna@acme.io'),
    key: placeholders.of('private_key', 'a"b\\\nc'),
  }
}

/** Restores a text, or the JSON text of arguments, that arrives in pieces. */
function restoredInPieces(
  pieces: readonly string[],
  values: ReadonlyMap<string, string>,
  kind: 'text' | 'input' = 'text',
) {
  const map = createRestorer(values)[kind]
  let out = ''
  let kept = ''
  let most = 0
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1
    const whole = kept + piece
    const mapped = map(whole, { before: '', isLast })
    const { text, keep } = typeof mapped === 'string' ? { text: mapped, keep: 0 } : mapped
    out += text
    kept = keep === 0 ? '' : whole.slice(-keep)
    most = Math.max(most, keep)
  }
  return { out, most }
}

test('placeholders: equal for a value of one conversation, different for others', (t) => {
  const { placeholders, mail } = openPlaceholders()
  t.regex(mail, /^REDACTED_EMAIL_[0-9A-HJKMNP-TV-Z]{12}$/)
  t.is(placeholders.of('email', 'anna@acme.io'), mail)
  for (const other of [{ caller: 'key:2' }, { conversation: 'conv_2' }, { key: Buffer.alloc(32, 2) }])
    t.not(new Placeholders({ ...SCOPE, ...other }).of('email', 'anna@acme.io'), mail)
})

test('restore: a text cut at every place is restored', (t) => {
  const { placeholders, mail, key } = openPlaceholders()
  const text = `R ${mail} RED ${key}, ${mail}s REDACTED_EMAIL_000000000000 REDACTED_`
  const expected = `R anna@acme.io RED a"b\\\nc, anna@acme.ios REDACTED_EMAIL_000000000000 REDACTED_`
  t.is(restoredInPieces([text], placeholders.values).out, expected)
  t.is(restoredInPieces([...text], placeholders.values).out, expected)
  for (let cut = 1; cut < text.length; cut++)
    t.is(restoredInPieces([text.slice(0, cut), text.slice(cut)], placeholders.values).out, expected, `${cut}`)
})

test('restore: a placeholder that ends like the beginning of one is restored, wherever it is cut', (t) => {
  const placeholders = new Placeholders(SCOPE)
  const made = Array.from({ length: 400 }, (_, index) => placeholders.of('email', `m${index}@acme.io`))
  const ending = made.filter((placeholder) => /R$|RE$|RED$/.test(placeholder))
  t.true(ending.length > 3)
  for (const placeholder of ending) {
    const value = placeholders.values.get(placeholder)
    for (const text of [`To ${placeholder}`, `To ${placeholder}EDACTED_EMAIL_0, ${placeholder}`])
      for (let cut = 1; cut <= text.length; cut++) {
        const { out } = restoredInPieces([text.slice(0, cut), text.slice(cut), ''], placeholders.values)
        t.is(out, text.replaceAll(placeholder, String(value)), `${cut}`)
      }
  }
})

test('restore: nothing is held back where no placeholder can be open', (t) => {
  const { placeholders } = openPlaceholders()
  t.is(restoredInPieces([...'An ordinary text, REDO and RED. '], placeholders.values).most, 3)
  t.is(restoredInPieces(['Words of Reply', ' and more.', 'x'], placeholders.values).most, 0)
})

test('restore: values are escaped in arguments of tools, cut at every place', (t) => {
  const { placeholders, key } = openPlaceholders()
  const json = JSON.stringify({ text: `x${key}y` })
  for (let cut = 1; cut < json.length; cut++) {
    const { out, most } = restoredInPieces([json.slice(0, cut), json.slice(cut)], placeholders.values, 'input')
    t.deepEqual(JSON.parse(out), { text: 'xa"b\\\ncy' })
    t.true(most < key.length)
  }
})
