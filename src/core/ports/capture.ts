/** The stored part of a body. */
export interface CapturedBody {
  readonly bytes: Uint8Array
  /** Length of the whole body. */
  readonly totalBytes: number
}

/** The request after one edit. */
export interface CapturedVersion extends CapturedBody {
  readonly module: string
}

/** Bodies of one request, stored with an opt-in. */
export interface CapturedRequest {
  /** The id of its receipt and of its telemetry. */
  readonly id: string
  readonly scope: string
  /** Bytes from the client. */
  readonly request: CapturedBody
  /** The canonical request before the first edit, if there were edits. */
  readonly canonical: CapturedBody | undefined
  /** One for each edit that took effect, in order. */
  readonly versions: readonly CapturedVersion[]
  /** Bytes sent to the client. */
  readonly reply: CapturedBody
}

/** Stores captured requests for a limited time. */
export interface CaptureStore {
  put(captured: CapturedRequest): void
  get(id: string): Promise<CapturedRequest | undefined>
}
