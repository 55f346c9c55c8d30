import test from 'ava'
import { providerMessage, readFailedReply, retryAfterMs } from './failed-reply.ts'

test('failed-reply: nothing is left of a credential at the place where a text is cut', (t) => {
  const secret = 'correct-horse-battery-staple'
  for (let before = 0; before < 310; before++) {
    const body = Buffer.from(
      JSON.stringify({ error: { type: `${'x'.repeat(before)}${secret}`, message: `${'x'.repeat(before)}${secret}` } }),
    )
    const { type } = readFailedReply({ status: 500, headers: {}, body, secrets: [secret] })
    t.notRegex(String(type), /corr/)
    t.notRegex(providerMessage(body, [secret]), /corr/)
  }
})

test('failed-reply: retry-after is seconds or a date; a date in the past is no wait, and all else is none', (t) => {
  const waits = {
    '0': 0,
    '7': 7000,
    '0.5': 500,
    '007': 7000,
    ['9'.repeat(400)]: undefined,
    '99999999999': 99999999999000,
  }
  for (const [text, ms] of Object.entries(waits)) t.is(retryAfterMs(text), ms, text)
  for (const past of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])
    t.is(retryAfterMs(past), 0, past)
  const later = retryAfterMs(new Date(Date.now() + 3_600_000).toUTCString()) ?? 0
  t.true(later > 0 && later <= 3_600_000, `${later}`)
  const odd = ['', ' ', '-5', '+5', 'NaN', 'Infinity', '0x10', '1e3', '1, 2', '5 s', 'in 5 seconds', 'Sun', 'Sunday 99']
  for (const text of odd) t.is(retryAfterMs(text), undefined, JSON.stringify(text))
  t.is(retryAfterMs(['1', '2']), undefined)
  t.is(retryAfterMs(undefined), undefined)
})

test('failed-reply: a retry-after that is unreadable is not passed on', (t) => {
  const passedOn = (text: string) =>
    readFailedReply({ status: 503, headers: { 'retry-after': text }, body: Buffer.alloc(0), secrets: [] }).retryAfter
  t.is(passedOn('7'), '7')
  for (const text of ['', '-5', 'soon']) t.is(passedOn(text), undefined, JSON.stringify(text))
})
