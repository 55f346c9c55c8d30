import { ClientRequest, type Translation } from '../../core/request/client-request.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import type { CompactionKind } from './compact/compaction-request.ts'
import { RESPONSES_REPLIES } from './replies.ts'

/** A request's part in the compaction of its conversation. */
export interface Compacting {
  /** Unset: it compacts nothing. */
  readonly kind: CompactionKind | undefined
  /** Summaries of earlier compactions, by the path of their item. */
  readonly opened: ReadonlyMap<string, string>
  /** Seals a summary for the request's caller. */
  readonly seal: (summary: string) => string
}

/** A request of a Responses client. */
export class ResponsesRequest extends ClientRequest {
  readonly compacting: Compacting
  readonly #translateBoth: (document: RequestDocument, compacting: Compacting) => Translation

  constructor(
    document: RequestDocument,
    compacting: Compacting,
    translate: (document: RequestDocument, compacting: Compacting) => Translation,
  ) {
    super(document, RESPONSES_REPLIES, (document) => translate(document, compacting))
    this.compacting = compacting
    this.#translateBoth = translate
  }

  override get openedTexts(): ReadonlyMap<string, string> {
    return this.compacting.opened
  }

  override with(document: RequestDocument, opened: ReadonlyMap<string, string>): ResponsesRequest {
    return new ResponsesRequest(document, { ...this.compacting, opened }, this.#translateBoth)
  }

  /** Distinguishes the call of `/responses/compact` from a response to the same body. */
  override get purpose(): string {
    return this.compacting.kind === 'window' ? 'compaction' : ''
  }
}

/** Returns a request's part in the compaction of its conversation; none for a request of another dialect. */
export function compactingOf(request: ClientRequest): Partial<Compacting> {
  return request instanceof ResponsesRequest ? request.compacting : {}
}
