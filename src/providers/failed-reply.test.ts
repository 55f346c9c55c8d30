import test from 'ava'
import { providerMessage, readFailedReply } from './failed-reply.ts'

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
