import assert from 'node:assert/strict'
import test from 'node:test'
import { runPlugin } from 'turnpike/plugin/test'
import plugin from './index.ts'

/** Runs messages through the plugin and returns them as sent on. */
async function messagesOf(messages: readonly object[], options = {}): Promise<unknown> {
  const { request, wentOn } = await runPlugin(plugin, { body: { messages }, options })
  assert.equal(wentOn, true)
  return (request as { messages: unknown }).messages
}

test('shout: writes a text in capitals', async () => {
  assert.deepEqual(await messagesOf([{ role: 'user', content: 'hello' }]), [{ role: 'user', content: 'HELLO' }])
})

test('shout: changes the text blocks of the last user message and nothing else', async () => {
  const image = { type: 'image', source: { type: 'url', url: 'http://127.0.0.1/a.png' } }
  const before = [
    { role: 'user', content: 'first' },
    { role: 'assistant', content: 'well' },
    { role: 'user', content: [image, { type: 'text', text: 'last' }] },
    { role: 'assistant', content: 'so' },
  ]
  const last = { role: 'user', content: [image, { type: 'text', text: 'LAST' }] }
  assert.deepEqual(await messagesOf(before), before.with(2, last))
})

test('shout: leaves a text longer than `max` unchanged', async () => {
  const messages = [{ role: 'user', content: 'hello' }]
  assert.deepEqual(await messagesOf(messages, { max: 4 }), messages)
})
