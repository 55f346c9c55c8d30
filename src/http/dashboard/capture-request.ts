import type { ServerResponse } from 'node:http'
import type { CapturedBody, CapturedVersion, CaptureStore } from '../../core/ports/capture.ts'
import { compactCopy } from '../../core/reply/compact-copy.ts'
import type { Caller } from '../../core/request/caller.ts'
import type { Exchange } from '../../core/request/exchange.ts'
import { onClosed } from '../client-disconnect.ts'
import { tapBody } from '../sent-body.ts'

/** What of a body is kept. */
const MOST_BYTES = 1024 * 1024
/** More edits than modules make. */
const MOST_VERSIONS = 32

/** Who may be captured, and where it goes. */
export interface CaptureOptions {
  readonly store: CaptureStore
  /** Whether bodies of this caller's requests are kept; asked for each request, so it must be cheap. */
  readonly isWanted: (caller: Caller) => boolean
}

/** A request whose reply is still to come. */
export interface OpenCapture {
  readonly id: string
  readonly exchange: Exchange
  readonly response: ServerResponse
}

/** Keeps what is said in a request, when that is wanted: buffers are held, nothing is parsed or copied before the end. */
export function captureRequest({ id, exchange, response }: OpenCapture, { store, isWanted }: CaptureOptions): void {
  if (!isWanted(exchange.caller)) return
  const reply = new BoundedBody()
  tapBody(response, (piece) => reply.add(piece))
  let canonical: CapturedBody | undefined
  let versions: CapturedVersion[] = []
  exchange.watchEdits((after, module) => {
    // A module that was bypassed has had its edits undone.
    versions = versions.slice(0, exchange.edits.length)
    if (versions.length >= MOST_VERSIONS) return
    if (versions.length === 0) canonical = cut(exchange.request.bytes)
    versions.push({ module, ...cut(after.bytes) })
  })
  onClosed(response, () => {
    const stood = versions.slice(0, exchange.edits.length)
    store.put({
      id,
      scope: exchange.caller.scope,
      request: cut(exchange.original),
      canonical: stood.length === 0 ? undefined : canonical,
      versions: stood,
      reply: reply.body(),
    })
  })
}

function cut(bytes: Buffer): CapturedBody {
  const kept = compactCopy(bytes.subarray(0, MOST_BYTES))
  return { bytes: kept, totalBytes: bytes.length }
}

/** The first of what was written. */
class BoundedBody {
  #pieces: Uint8Array[] = []
  #keptBytes = 0
  #totalBytes = 0

  add(piece: Uint8Array): void {
    this.#totalBytes += piece.length
    if (this.#keptBytes >= MOST_BYTES) return
    const kept = piece.subarray(0, MOST_BYTES - this.#keptBytes)
    this.#keptBytes += kept.length
    this.#pieces.push(kept)
  }

  body(): CapturedBody {
    return { bytes: compactCopy(Buffer.concat(this.#pieces)), totalBytes: this.#totalBytes }
  }
}
