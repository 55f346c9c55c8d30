// The stand-in for a provider, a process of its own: answers every request at once, with bytes made at its start. Tells
// its port to the process that has started it, and ends with it.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { streamOfMessage } from '../../core/reply/stream-of-message.ts'

const TEXT = 'The stand-in for a provider answers at once, so that what is left to measure is the gateway. '.repeat(8)

const json = Buffer.from(
  JSON.stringify({
    model: 'claude-sonnet-4-5',
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: TEXT }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 256, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 168 },
  }),
)
const stream = streamOfMessage(json)

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  const isStream = Buffer.concat(pieces).includes('"stream":true')
  const [type, body] = isStream ? ['text/event-stream; charset=utf-8', stream] : ['application/json', json]
  response.writeHead(200, {
    'content-type': type,
    'request-id': 'req_bench',
    ...(!isStream && { 'content-length': body.length }),
  })
  response.end(body)
}

const server = createServer((request, response) => {
  // A client that leaves in the middle of its request is none of our business.
  answer(request, response).catch(() => response.destroy())
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port)) // safe: it listens on a port
process.on('disconnect', () => process.exit())
