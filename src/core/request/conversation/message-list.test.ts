import { createHash } from 'node:crypto'
import test from 'ava'
import { parseMessagesRequest } from '../../../dialects/messages/parse.ts'
import { messageListOf } from './message-list.ts'

const openingOf = (...texts: readonly string[]) => {
  const messages = texts.map((content) => ({ role: 'user', content }))
  const body = { model: 'm', max_tokens: 9, messages: [...messages, { role: 'assistant', content: 'later' }] }
  return messageListOf(parseMessagesRequest(Buffer.from(JSON.stringify(body))))?.opening
}

const digestOf = (...texts: readonly string[]) =>
  createHash('sha256')
    .update(texts.map((text) => `"${text}"\n`).join(''))
    .digest('base64url')

for (const length of [1, 7, 500, 4000, 9000, 40_000])
  test(`message list: an opening of ${length} bytes is known by the digest of its texts`, (t) => {
    t.is(openingOf('a'.repeat(length)), digestOf('a'.repeat(length)))
    t.is(openingOf('a'.repeat(length), 'é'), digestOf('a'.repeat(length), 'é'))
    // What an earlier opening has left behind does not count.
    t.is(openingOf('b'), digestOf('b'))
  })
