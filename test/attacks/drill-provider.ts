import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  input_tokens: 1,
  usage: { input_tokens: 1, output_tokens: 1 },
}

const toEvent = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const BEGINNING =
  toEvent({ type: 'message_start', ...{ message: { ...MESSAGE, content: [], stop_reason: null } } }) +
  toEvent({ type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } })
const PORTION = toEvent({
  type: 'content_block_delta',
  ...{ index: 0, delta: { type: 'text_delta', text: 'all work and no play '.repeat(200) } },
}).repeat(16)

/**
 * Starts a provider that answers whatever it is sent, and keeps none of it. A stream is endless, and is produced as fast as
 * it is taken.
 */
export async function startDrillProvider(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    let end = ''
    request
      .on('data', (chunk: Buffer) => {
        end = (end + chunk.toString('latin1', Math.max(0, chunk.length - 100))).slice(-100)
      })
      .once('end', () => {
        if (end.includes('"stream":true')) return sendEndless(response)
        response.setHeader('content-type', 'application/json').end(JSON.stringify(MESSAGE))
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}

function sendEndless(response: ServerResponse): void {
  const produce = () => {
    while (!response.destroyed && response.write(PORTION));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' }).on('drain', produce).write(BEGINNING)
  produce()
}
