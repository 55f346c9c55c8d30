// The bare relay, the reference of every ratio: the minimum work of any JavaScript gateway. Reads the body, parses it,
// sends its bytes through undici.request, streams the reply back. No routing, no checks, no log.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Pool } from 'undici'

const upstream = new Pool(process.env.UPSTREAM!)

async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const message: { model?: string } = JSON.parse(body.toString())
  if (message.model === undefined) return void response.writeHead(400).end()
  const reply = await upstream.request({
    method: 'POST',
    path: '/v1/messages',
    headers: { 'content-type': 'application/json', 'x-api-key': 'x', 'anthropic-version': '2023-06-01' },
    body,
  })
  const { connection, 'keep-alive': keepAlive, 'transfer-encoding': transferEncoding, ...headers } = reply.headers
  response.writeHead(reply.statusCode, headers)
  response.on('close', () => reply.body.destroy())
  // Destroying an open body ends it with an error; the client has disconnected.
  reply.body.on('error', () => response.destroy())
  reply.body.pipe(response)
}

const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.end('ok')
  relay(request, response).catch(() => response.destroy())
})
server.keepAliveTimeout = 60_000
server.listen(Number(process.env.PORT), '127.0.0.1')
