import { compactCopy } from '../reply/compact-copy.ts'
import { MESSAGES_REPLIES, type ReplyDialect } from '../reply/reply-dialect.ts'
import { DroppedFields } from './dropped-fields.ts'
import { RequestDocument } from './request.ts'

/** A request of another dialect, translated into the canonical one. */
export interface Translation {
  /** A valid Messages body. */
  readonly bytes: Buffer
  readonly droppedFields: DroppedFields
  /** Required canonical fields that the client left out: their values are the gateway's own. */
  readonly assumed: readonly string[]
  /** Values of the small fields, which a provider of the canonical dialect reads, so that the body need not be parsed again. */
  readonly small: Readonly<Record<string, unknown>>
}

const NO_LOSSES = new DroppedFields()
const NO_TEXTS: ReadonlyMap<string, string> = new Map()
const TRANSLATION = Symbol('canonical request')

/**
 * A client's request in its own dialect, and in the canonical one. It is translated on first use: a request that no plugin
 * reads, on its way to a provider of the same dialect, needs no translation.
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

  /** Texts that the gateway has opened for the client, by the path of their item: the document has them encrypted. */
  get openedTexts(): ReadonlyMap<string, string> {
    return NO_TEXTS
  }

  /** Returns the same request with another document, and other opened texts. */
  with(document: RequestDocument, _openedTexts: ReadonlyMap<string, string>): ClientRequest {
    return new ClientRequest(document, this.dialect, this.#translate)
  }

  /** Distinguishes requests of one body whose replies differ; '' for an ordinary one. */
  get purpose(): string {
    return ''
  }

  /** The canonical request. Throws `invalid_request` when the request cannot be translated. */
  get canonical(): RequestDocument {
    if (this.#canonical !== undefined) return this.#canonical
    const { bytes, small } = this.#translation
    this.#canonical = new RequestDocument(bytes, undefined, small)
    return this.#canonical
  }

  /** Fields that the canonical request could not take over. Throws like `canonical`. */
  get droppedFields(): DroppedFields {
    return this.#translate === undefined ? NO_LOSSES : this.#translation.droppedFields
  }

  /** Fields of the canonical request whose values are the gateway's own. Throws like `canonical`. */
  get assumed(): readonly string[] {
    return this.#translate === undefined ? [] : this.#translation.assumed
  }

  /** Memo of the client's bytes, so that repeated bodies are translated once. */
  get #translation(): Translation {
    const translate = this.#translate
    if (translate === undefined) throw new Error('a canonical request is not translated')
    return this.document.memo(TRANSLATION, (document) => {
      const translation = translate(document)
      return { ...translation, bytes: compactCopy(translation.bytes) }
    })
  }
}
