import { createCipheriv, createHash } from 'node:crypto'
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

for (const length of [1, 7, 500, 4000, 9000, 16_000])
  test(`message list: an opening of ${length} bytes is known by the digest of its texts`, (t) => {
    t.is(openingOf('a'.repeat(length)), digestOf('a'.repeat(length)))
    t.is(openingOf('a'.repeat(length), 'é'), digestOf('a'.repeat(length), 'é'))
    // What an earlier opening has left behind does not count.
    t.is(openingOf('b'), digestOf('b'))
  })

/** GMAC of texts in one piece. */
const largeDigestOf = (...texts: readonly string[]) => {
  const key = createHash('sha256').update('turnpike openings of conversations').digest()
  const gmac = createCipheriv('aes-256-gcm', key, Buffer.alloc(12))
  gmac.setAAD(Buffer.from(texts.map((text) => `"${text}"\n`).join(''))).final()
  return gmac.getAuthTag().toString('base64url')
}

for (const lengths of [[16_382], [40_000], [9000, 9000, 9000], [1, 40_000, 1], [8000, 16_382, 16_381, 5]])
  test(`message list: texts of ${lengths} bytes are known by the digest of all`, (t) => {
    const texts = lengths.map((length, index) => String.fromCharCode(97 + index).repeat(length))
    t.is(openingOf(...texts), largeDigestOf(...texts))
    t.not(openingOf(...texts), openingOf(...texts.slice(0, -1), `${texts.at(-1)?.slice(1)}.`))
  })
