import type { IncomingMessage, ServerResponse } from 'node:http'
import { isJsonObject, parseJson } from '../json.ts'
import type { Exchange } from './deliver.ts'
import type { Ending, Journal, SeenRequest } from './journal.ts'

/** Enters a request into the journal, and follows its response to its end. */
export function open(request: IncomingMessage, response: ServerResponse, journal: Journal) {
  const gone = new AbortController()
  const { promise: closed, resolve } = Promise.withResolvers<Ending>()
  let isCut = false
  const { method = '', url = '', headers, rawHeaders } = request
  const blank = { raw: Buffer.alloc(0), json: undefined, refused: undefined, ended: 'open' as const, closed }
  const entry: SeenRequest = { method, url, headers, rawHeaders, ...blank }
  journal.pending++
  journal.changed()
  response.once('close', () => {
    if (response.writableFinished) entry.ended = 'finished'
    else entry.ended = isCut || journal.isClosing ? 'cut' : 'client-left'
    journal.pending--
    gone.abort()
    resolve(entry.ended)
    journal.changed()
  })
  const markCut = () => {
    isCut = true
  }
  const exchange: Exchange = { request, response, gone: gone.signal, left: closed.then(() => {}), markCut }
  return { entry, exchange }
}

/** Reads the whole body into the entry; false when the client disconnected before its end. */
export async function readBody(request: IncomingMessage, entry: SeenRequest): Promise<boolean> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    // the client disconnected: the received bytes are kept
  }
  entry.raw = Buffer.concat(chunks)
  const json = parseJson(entry.raw.toString())
  entry.json = isJsonObject(json) ? json : undefined
  return request.complete
}
