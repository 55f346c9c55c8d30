import { GatewayError } from '../../core/errors.ts'
import { readJson } from '../../core/json/json-error.ts'
import { isObject, type JsonObject } from '../../core/json/json-value.ts'
import type { Edit } from '../../core/json/splice.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { parseResponsesRequest } from '../../dialects/responses/parse.ts'
import { itemsOf, joinedItems } from '../../dialects/responses/state/continued-request.ts'
import { scanBody } from '../../dialects/scan-body.ts'

/** A request of a socket, as the body of an HTTP request. */
export interface Turn {
  readonly request: RequestDocument
  /** The remembered response that the request continues. */
  readonly previousId: string | undefined
  /** False for a request that only announces the next one. */
  readonly generates: boolean
}

/** Fields of a message that are not of the body. */
const ENVELOPE = ['type', 'generate'] as const

/**
 * Remembers the conversation of a socket's last response, so that the next request has only the new items. A response that is
 * stored elsewhere is not remembered: its id finds it there.
 */
export class SocketMemory {
  readonly #mostBytes: number
  #last: { readonly id: string; readonly items: string } | undefined

  /** `mostBytes` bounds the remembered conversation. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Reads a `response.create` message. Throws `invalid_request`. */
  read(message: Buffer): Turn {
    const envelope = new RequestDocument(message, scanBody(message))
    if (isGiven(envelope.field('stream_id'))) throw invalid('stream_id', 'open a socket for each lane')
    const id = envelope.field('previous_response_id')
    const isLast = typeof id === 'string' && id === this.#last?.id
    const edits: Edit[] = [{ op: 'add', path: ['stream'], value: true }]
    for (const name of ENVELOPE) if (envelope.shape.fields.has(name)) edits.push({ op: 'remove', path: [name] })
    if (isLast) {
      const items = joinedItems(this.#last?.items ?? '[]', itemsOf(envelope))
      edits.push(
        { op: 'add', path: ['input'], value: Buffer.from(items) },
        { op: 'remove', path: ['previous_response_id'] },
      )
    }
    const request = parseResponsesRequest(readJson(message, () => envelope.edited(edits)).bytes)
    return { request, previousId: isLast ? id : undefined, generates: envelope.field('generate') !== false }
  }

  /** Remembers a response and the request that it answers, in place of the one before. */
  keep({ id, store, output }: JsonObject, { request }: Turn): void {
    this.#last = undefined
    if (typeof id !== 'string' || store === true) return
    const said = Array.isArray(output) ? output.filter(isObject).flatMap(toInput) : []
    const items = joinedItems(itemsOf(request), JSON.stringify(said))
    if (Buffer.byteLength(items) <= this.#mostBytes) this.#last = { id, items }
  }

  /** Forgets what a failed request has continued. */
  forget({ previousId }: Turn): void {
    if (previousId !== undefined) this.#last = undefined
  }
}

/**
 * Returns an item of a response as input of a request that nothing is stored for: without its id, which the provider would
 * search for; reasoning has its id verified together with its encrypted content, and is nothing without it.
 */
function toInput(item: JsonObject): JsonObject[] {
  if (item.type === 'reasoning') return typeof item.encrypted_content === 'string' ? [item] : []
  const { id: _, ...rest } = item
  return [rest]
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function invalid(field: string, why: string): GatewayError {
  return new GatewayError('invalid_request', `${field}: ${why}.`)
}
