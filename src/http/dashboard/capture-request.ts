import type { ServerResponse } from 'node:http'
import type { CapturedBody, CapturedVersion, CaptureStore } from '../../core/ports/capture.ts'
import type { Caller } from '../../core/request/caller.ts'
import type { Exchange } from '../../core/request/exchange.ts'
import { onClosed } from '../client-disconnect.ts'
import { tapBody } from '../sent-body.ts'

/** Bytes that are kept of a body. */
const MOST_BYTES = 1024 * 1024
/** Edits that are kept; more than plugins make. */
const MOST_VERSIONS = 32

/** Input of `captureRequest`. */
export interface CaptureOptions {
  readonly store: CaptureStore
  /** Returns whether bodies of this caller are captured; called for each request, so it must be cheap. */
  readonly isWanted: (caller: Caller) => boolean
}

/** A request whose reply has not begun. */
export interface OpenCapture {
  readonly id: string
  readonly exchange: Exchange
  readonly response: ServerResponse
  /** Names of the pipeline's plugins that guard content. */
  readonly guards: readonly string[]
}

/**
 * Captures the bodies of a request if its caller has opted in. Keeps views of the bodies; parses and copies nothing of the request.
 */
export function captureRequest(
  { id, exchange, response, guards }: OpenCapture,
  { store, isWanted }: CaptureOptions,
): void {
  if (!isWanted(exchange.caller)) return
  const reply = new BoundedBody()
  tapBody(response, (piece) => reply.add(piece))
  let canonical: CapturedBody | undefined
  let versions: CapturedVersion[] = []
  exchange.watchEdits((after, module) => {
    // The edits of a bypassed plugin are undone.
    versions = versions.slice(0, exchange.edits.length)
    if (versions.length >= MOST_VERSIONS) return
    if (versions.length === 0) canonical = cut(exchange.request.bytes)
    versions.push({ module, ...cut(after.bytes) })
  })
  onClosed(response, () => {
    const kept = versions.slice(0, exchange.edits.length)
    const isMapped = exchange.received !== exchange.client
    // As plugins have mapped its texts: a capture is stored. What a guard has refused, or failed to read, is left out.
    const request = cut(exchange.client.document.bytes)
    const isRefused = guards.length > 0 && !isMapped && exchange.reply === undefined
    store.put({
      id,
      scope: exchange.caller.scope,
      request: isRefused ? withoutBytes(request) : request,
      canonical: kept.length === 0 || isRefused ? undefined : canonical,
      versions: isRefused ? [] : kept,
      reply: isMapped ? withoutBytes(reply.body()) : reply.body(),
    })
  })
}

function cut(bytes: Buffer): CapturedBody {
  return { bytes: bytes.subarray(0, MOST_BYTES), totalBytes: bytes.length }
}

/** Leaves out a body with texts that a plugin guards: a reply into which it may have put them again, a refused request. */
function withoutBytes({ totalBytes }: CapturedBody): CapturedBody {
  return { bytes: Buffer.alloc(0), totalBytes }
}

/** The first bytes of a body, up to `MOST_BYTES`, and its total size. */
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
    const [only] = this.#pieces
    const bytes = this.#pieces.length === 1 && only ? only : Buffer.concat(this.#pieces, this.#keptBytes)
    return { bytes, totalBytes: this.#totalBytes }
  }
}
