import test from 'ava'
import type { Finding } from './detect/finding.ts'
import { KnownTexts } from './known-texts.ts'

const LONG = 'Words and words. '.repeat(40)

test('redact: a long text of an earlier turn is scanned once for each caller and kinds, a short one each time', (t) => {
  const scanned: string[] = []
  const findings: Finding[] = [{ start: 0, end: 5, kind: 'custom' }]
  const scan = (text: string) => {
    scanned.push(text)
    return findings
  }
  const known = new KnownTexts()
  for (const scope of ['a email', 'a email', 'b email', 'a email iban'])
    t.is(known.remembering(scan, scope)(LONG), findings)
  t.is(scanned.length, 3)
  for (const text of ['short', 'short']) known.remembering(scan, 'a email')(text)
  // Equal in UTF-8, different texts.
  for (const text of [`${LONG}\ud800`, `${LONG}\udc00`]) known.remembering(scan, 'a email')(text)
  t.is(scanned.length, 7)
})
