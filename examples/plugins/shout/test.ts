import assert from 'node:assert/strict'
import test from 'node:test'
import { type Edit, RequestDocument } from 'turnpike/plugin'
import plugin from './index.ts'

/** Sends a request through the plugin; gives the edits it made. */
async function editsOf(body: object, given: object = {}): Promise<Edit[]> {
  const options = plugin.options.parse(given)
  const { middleware } = await plugin.setup(options, {})
  const edits: Edit[] = []
  const exchange = {
    request: new RequestDocument(Buffer.from(JSON.stringify(body))),
    edit: (...made: Edit[]) => void edits.push(...made),
    note() {},
  }
  let wentOn = 0
  await middleware(options)({ state: { exchange } } as never, async () => void wentOn++)
  assert.equal(wentOn, 1)
  return edits
}

test('shout: writes a text in capitals', async () => {
  const edits = await editsOf({ messages: [{ role: 'user', content: 'hello' }] })
  assert.deepEqual(edits, [{ op: 'replace', path: ['messages', 0, 'content'], value: 'HELLO' }])
})

test('shout: changes the text blocks of the last user message and nothing else', async () => {
  const image = { type: 'image', source: { type: 'url', url: 'http://127.0.0.1/a.png' } }
  const edits = await editsOf({
    messages: [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'well' },
      { role: 'user', content: [image, { type: 'text', text: 'last' }] },
      { role: 'assistant', content: 'so' },
    ],
  })
  assert.deepEqual(edits, [{ op: 'replace', path: ['messages', 2, 'content', 1, 'text'], value: 'LAST' }])
})

test('shout: leaves a text that is longer than `max` alone', async () => {
  assert.deepEqual(await editsOf({ messages: [{ role: 'user', content: 'hello' }] }, { max: 4 }), [])
})

test('shout: leaves a request without a user message alone', async () => {
  assert.deepEqual(await editsOf({ messages: [] }), [])
})
