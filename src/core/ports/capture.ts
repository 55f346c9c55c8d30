/** A body as far as it was kept. */
export interface CapturedBody {
  readonly bytes: Uint8Array
  /** How long it was, cut or not. */
  readonly totalBytes: number
}

/** The request as one edit left it. */
export interface CapturedVersion extends CapturedBody {
  readonly module: string
}

/** What was said in one request, kept because somebody allowed it. */
export interface CapturedRequest {
  /** The id of its receipt and of its telemetry. */
  readonly id: string
  readonly scope: string
  /** As the client sent it. */
  readonly request: CapturedBody
  /** As it was before the first edit, where there were edits: canonical. */
  readonly canonical: CapturedBody | undefined
  /** One for each edit that stood, in their order. */
  readonly versions: readonly CapturedVersion[]
  /** As it was sent to the client. */
  readonly reply: CapturedBody
}

/** Keeps what was said, for a while. */
export interface CaptureStore {
  put(captured: CapturedRequest): void
  get(id: string): Promise<CapturedRequest | undefined>
}
