// Stand-in provider, a separate process: replies at once with bytes made at start, in the dialect of the path. `GET
// /count` returns the number of answered requests, so that the benchmark can verify that misses arrived and hits did
// not.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { forms, HOLD_MARK } from './bodies.ts'
import { chatReplies, messagesReplies, type Replies, responsesReplies } from './upstream-replies.ts'

const jsonHeaders = {
  'content-type': 'application/json',
  'request-id': 'req_011CBench',
  'anthropic-ratelimit-requests-limit': '4000',
  'anthropic-ratelimit-requests-remaining': '3999',
}
const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'request-id': 'req_011CBench',
}

let requestCount = 0

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.end(String(requestCount))
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  requestCount++
  const body = Buffer.concat(chunks)
  const { json, streamWrites } = repliesAt(request.url)
  if (!body.includes('"stream":true'))
    return void response.writeHead(200, { ...jsonHeaders, 'content-length': json.length }).end(json)
  response.writeHead(200, streamHeaders)
  if (body.includes(HOLD_MARK)) return void response.write(streamWrites[0])
  writeFrom(streamWrites, 0, response)
}

function repliesAt(path: string | undefined): Replies {
  if (path === forms.responses.path) return responsesReplies
  return path === forms.chat.path ? chatReplies : messagesReplies
}

/** Milliseconds between the pieces of a stream. Without it each has its own turn of the event loop. */
const PIECE_MS = Number(process.env.PIECE_MS ?? 0)

/** Writes the stream piece by piece, so that the pieces reach the gateway separately. */
function writeFrom(writes: readonly Buffer[], index: number, response: ServerResponse): void {
  if (index === writes.length) return void response.end()
  response.write(writes[index])
  if (PIECE_MS > 0) setTimeout(writeFrom, PIECE_MS, writes, index + 1, response)
  else setImmediate(writeFrom, writes, index + 1, response)
}

const server = createServer((request, response) => {
  // A client that disconnects during its request needs no reply.
  answer(request, response).catch(() => response.destroy())
})
server.keepAliveTimeout = 60_000
server.listen(Number(process.env.PORT), '127.0.0.1')
