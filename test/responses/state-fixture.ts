import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { isJsonObject, type JsonObject, parseJson } from '../support/json.ts'
import { toResponse, toSse } from '../support/responses/answer.ts'

/*
 * DESIGN. A stand-in for a provider that stores responses, for each of its keys on its own, as OpenAI does for each project: a
 * continuation or a query with another key is refused as one of an unknown response.
 */

/** A call that the stand-in has received. */
export interface KeeperCall {
  readonly method: string
  readonly path: string
  readonly key: string
  readonly body: JsonObject
}

/** A running stand-in; `url` has no `/v1`. */
export interface Keeper {
  readonly url: string
  readonly calls: readonly KeeperCall[]
  close(): Promise<void>
}

interface Kept {
  readonly key: string
  readonly response: JsonObject
  readonly input: readonly JsonObject[]
}

/** Starts the stand-in on a free loopback port. */
export async function startKeeper(): Promise<Keeper> {
  const calls: KeeperCall[] = []
  const kept = new Map<string, Kept>()
  const server = createServer(async (request, response) => {
    const text = (await buffer(request)).toString()
    const parsed = parseJson(text)
    const call = { ...headOf(request), body: isJsonObject(parsed) ? parsed : {} }
    calls.push(call)
    if (call.method === 'POST' && call.path === '/v1/responses') answer(response, call, { kept, nth: calls.length })
    else serveKept(response, call, kept)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function headOf({ method = '', url = '', headers }: IncomingMessage) {
  return { method, path: url.split('?')[0] ?? '', key: String(headers.authorization).replace('Bearer ', '') }
}

function answer(
  response: ServerResponse,
  { key, body }: KeeperCall,
  { kept, nth }: { kept: Map<string, Kept>; nth: number },
): unknown {
  const id = body.previous_response_id
  const previous = typeof id === 'string' ? kept.get(id) : undefined
  if (typeof id === 'string' && previous?.key !== key) return notFound(response)
  const own = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input as JsonObject[])
  const input = [...(previous?.input ?? []), ...own]
  const text = input.map(({ content }) => String(content)).join(' | ')
  const whole = {
    ...toResponse({ body: { ...body, input }, nth }, { kind: 'answer', text }),
    store: body.store !== false,
  }
  if (whole.store) kept.set(String(idOf(whole)), { key, response: whole, input: [...input, ...outputOf(whole)] })
  if (body.stream !== true) return json(response, 200, whole)
  return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(toSse(whole, false))
}

function serveKept(response: ServerResponse, { method, path, key }: KeeperCall, kept: Map<string, Kept>): unknown {
  const [id = '', rest] = path.replace('/v1/responses/', '').split('/')
  const found = kept.get(id)
  if (found?.key !== key) return notFound(response)
  if (method === 'DELETE') kept.delete(id)
  const deleted = { id, object: 'response', deleted: true }
  const list = { object: 'list', data: found.input, first_id: null, last_id: null, has_more: false }
  return json(response, 200, method === 'DELETE' ? deleted : rest === 'input_items' ? list : found.response)
}

function idOf(response: JsonObject): unknown {
  return response.id
}

function outputOf(response: JsonObject): JsonObject[] {
  const output = response.output as JsonObject[] // safe: built by `toResponse`
  return output.map((item) => ({ role: 'assistant', content: (item.content as JsonObject[] | undefined)?.[0]?.text }))
}

function notFound(response: ServerResponse): unknown {
  return json(response, 404, { error: { message: 'Response not found.', type: 'invalid_request_error', param: null } })
}

function json(response: ServerResponse, status: number, body: unknown): unknown {
  return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
