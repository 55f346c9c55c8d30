/**
 * Times the recognition of conversations, by header and by messages, in µs a request. Run it on a machine that does nothing
 * else.
 *
 *   node bench/recognition.ts
 */
import { performance } from 'node:perf_hooks'
import { Conversations } from '../src/core/request/conversation/conversations.ts'
import { RequestDocument } from '../src/core/request/request.ts'

const ROUNDS = 9
const EACH = 2000

/** Bodies of a session's turns, each with one more exchange of `bytes` bytes. */
function session(name: string, { turns, bytes }: { turns: number; bytes: number }): RequestDocument[] {
  const messages = [{ role: 'user', content: `Begin ${name}` }]
  return Array.from({ length: turns }, (_, turn) => {
    const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 1000, messages })
    messages.push({ role: 'assistant', content: 'a'.repeat(bytes / 2) })
    messages.push({ role: 'user', content: `${turn} ${'u'.repeat(bytes / 2)}` })
    const document = new RequestDocument(Buffer.from(body))
    // The scan is done for every request.
    document.shape.fields.has('messages')
    return document
  })
}

const kinds = {
  'by header': { turns: 1, bytes: 0, headers: { 'x-claude-code-session-id': 'a-session' } },
  'by messages, 1 turn of 100 bytes': { turns: 1, bytes: 0, headers: {} },
  'by messages, 20 turns, up to 20 KB': { turns: 20, bytes: 1000, headers: {} },
  'by messages, 100 turns, up to 1 MB': { turns: 100, bytes: 10_000, headers: {} },
}
for (const [name, { headers, ...size }] of Object.entries(kinds)) {
  const documents = session(name, size)
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const conversations = new Conversations()
    const count = Math.max(documents.length, EACH - (EACH % documents.length))
    const startMs = performance.now()
    for (let i = 0; i < count; i++) {
      const caller = { scope: `caller ${Math.floor(i / documents.length)}` }
      // Safe: the index is within the list.
      conversations.enter({ caller, headers, document: documents[i % documents.length] as RequestDocument })
    }
    times.push(((performance.now() - startMs) * 1000) / count)
  }
  const sorted = times.toSorted((a, b) => a - b)
  console.log(`${name}: median ${(sorted[ROUNDS >> 1] ?? 0).toFixed(1)} µs`)
}
