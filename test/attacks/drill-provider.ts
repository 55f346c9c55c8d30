import { createServer } from 'node:http'
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

/** Starts a provider that answers whatever it is sent, and keeps none of it. */
export async function startDrillProvider(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const answer = () => response.setHeader('content-type', 'application/json').end(JSON.stringify(MESSAGE))
    request.resume().once('end', answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}
