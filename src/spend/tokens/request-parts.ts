/**
 * DESIGN: the parts of a request's prompt, from its bytes.
 *
 * Purpose: text is weighed in place, without parsing the messages. The weighing is by exclusion: every value counts as
 * text, members and parts of unknown names and types included, except for
 * - media of a known kind (images, PDFs, audio), which count by their size or by a documented ceiling;
 * - the few members that are certainly not in a prompt (ids, cache marks, signatures, settings), up to a bounded length.
 *
 *     a member ──known name──► by its rule: text, a mark (free while short), free, content, media
 *              └─any other──► its name and its value, as text
 *
 * Guarantees: names and values are compared decoded. Ambiguous members (a repeated name, or one in another
 * case) are never media and never free: all of their readings are added up. An unreadable body is text.
 * Limits: blocks within blocks are walked to a depth of four, below that they are text.
 */
import type { DialectName } from '../../core/reply/reply-dialect.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { chatParts } from './chat-parts.ts'
import type { ImageSize } from './image-size.ts'
import { messagesParts } from './messages-parts.ts'
import { responsesParts } from './responses-parts.ts'

/** The parts of an estimate, for any model. Units are hundredths of a token before calibration. */
export interface RequestParts {
  /** Weight of the text for every model. */
  units: number
  /** Weight of the thinking in turns before the user's last text: some models leave it out. */
  earlierThinkingUnits: number
  /** Weight of tools that are loaded when the model finds them, where the provider supports that. */
  deferredUnits: number
  /** Tokens around messages, blocks and tools. */
  frameTokens: number
  /** Tokens that Anthropic adds. */
  hiddenTokens: number
  /** Tokens of documents and audio. */
  documentTokens: number
  /** Sizes of images; `undefined` where unknown. */
  readonly images: (ImageSize | undefined)[]
  /** True when the provider appears to count nothing but the text: then its count can be learned from. */
  isPlain: boolean
}

const READERS = { messages: messagesParts, chat: chatParts, responses: responsesParts }

/** Reads the parts of a request in a dialect. Throws `ScanError` when it is not JSON. */
export function partsOf(request: RequestDocument, dialect: DialectName): RequestParts {
  return READERS[dialect](request)
}
