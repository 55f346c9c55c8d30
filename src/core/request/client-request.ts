import { compactCopy } from '../reply/compact-copy.ts'
import { MESSAGES_REPLIES, type ReplyDialect } from '../reply/reply-dialect.ts'
import { DroppedFields } from './dropped-fields.ts'
import { RequestDocument } from './request.ts'

/** A request of another dialect, told in the canonical one. */
export interface Translation {
  /** A valid Messages body. */
  readonly bytes: Buffer
  readonly droppedFields: DroppedFields
  /** Canonical fields that must be there and that the client did not give: their values are the gateway's own. */
  readonly assumed: readonly string[]
  /** Values of the small fields, which a provider of the canonical dialect looks at: so the body need not be read again. */
  readonly small: Readonly<Record<string, unknown>>
}

const NO_LOSSES = new DroppedFields()
const TRANSLATION = Symbol('canonical request')

/**
 * What a client sent, in its own dialect, and how it reads in the canonical one. The translation is made when somebody
 * asks for it: a request that nobody looks into, on its way to a provider of the same dialect, needs none.
 */
export class ClientRequest {
  readonly dialect: ReplyDialect
  /** The client's bytes. */
  readonly document: RequestDocument
  readonly #translate: ((document: RequestDocument) => Translation) | undefined
  #canonical: RequestDocument | undefined

  /** `translate` is left out when the dialect is the canonical one. */
  constructor(
    document: RequestDocument,
    dialect: ReplyDialect = MESSAGES_REPLIES,
    translate?: (document: RequestDocument) => Translation,
  ) {
    this.document = document
    this.dialect = dialect
    this.#translate = translate
    this.#canonical = translate === undefined ? document : undefined
  }

  /** The canonical request. Throws `invalid_request` when there can be none. */
  get canonical(): RequestDocument {
    if (this.#canonical !== undefined) return this.#canonical
    const { bytes, small } = this.#translation
    this.#canonical = new RequestDocument(bytes, undefined, small)
    return this.#canonical
  }

  /** What the canonical request could not take over. Throws like `canonical`. */
  get droppedFields(): DroppedFields {
    return this.#translate === undefined ? NO_LOSSES : this.#translation.droppedFields
  }

  /** Fields of the canonical request that are the gateway's own idea. Throws like `canonical`. */
  get assumed(): readonly string[] {
    return this.#translate === undefined ? [] : this.#translation.assumed
  }

  /** A fact about the client's bytes, so that bodies that come again are translated once. */
  get #translation(): Translation {
    const translate = this.#translate
    if (translate === undefined) throw new Error('a canonical request is not translated')
    return this.document.fact(TRANSLATION, (document) => {
      const translation = translate(document)
      return { ...translation, bytes: compactCopy(translation.bytes) }
    })
  }
}
