/**
 * DESIGN: recognises conversations whose clients send no name for them, by the longest list of messages that was asked before.
 *
 *   opening ──► family ──► nodes: lists that were asked, by length and checksum, each with its conversation
 *
 * A request continues the conversation of the longest list that it begins with. Where that conversation has already gone
 * on from there, the request is an edit of a later turn and stays, unless the list was asked more often than it was
 * continued: then two conversations began alike, and here they separate.
 *
 * Guarantees: families are of one caller's scope; memory is bounded and expires; a request costs one pass over its bytes,
 * and one for each length at which a list ends like the request does there: rarely more than one, and eight at most.
 * The id of a family's first conversation depends on the opening alone, that of another one on the list with which it
 * separated, so processes agree on ids where they saw the same requests. After a restart conversations that began alike are
 * one until they separate again. A checksum suffices: a caller that forges one mixes up its own conversations.
 */
import { BoundedMap } from '../../bounded-map.ts'
import { conversationId } from './conversation.ts'
import { checksumOf, endsAlike } from './list-checksum.ts'
import type { MessageList } from './message-list.ts'

const MOST_FAMILIES = 8192
const MOST_NODES = 65_536
const MOST_OF_FAMILY = 64
/** Lengths at which a request is compared in full. */
const MOST_COMPARED = 8
const IDLE_MS = 24 * 3_600_000

/** A list of messages that was asked. */
interface Node {
  readonly length: number
  readonly checksum: number
  /** Id of its conversation. */
  readonly id: string
  asked: number
  /** Conversations that have gone on from here. */
  continued: number
}

interface Family {
  /** Id of its first conversation. */
  readonly id: string
  /** The least recently asked first. */
  readonly nodes: Node[]
}

/** A request to be recognised. */
export interface Asked {
  readonly scope: string
  readonly list: MessageList
  /** True when the client sends the same request again. */
  readonly isRetry: boolean
}

/** A list of messages that was asked, for other processes. */
export interface AskedList {
  readonly family: string
  readonly length: number
  readonly checksum: number
  /** Id of its conversation. */
  readonly id: string
  /** The list that it goes on from: its length and checksum. */
  readonly from: readonly [length: number, checksum: number] | undefined
}

/** Conversations by their messages. */
export class PrefixIndex {
  readonly #families = new BoundedMap<Family>({
    most: MOST_FAMILIES,
    idleMs: IDLE_MS,
    onForget: ({ nodes }) => {
      this.#size -= nodes.length
    },
  })
  #size = 0

  /** Number of lists in memory. */
  get size(): number {
    return this.#size
  }

  /** Recognises the conversation that a request continues or begins, and remembers its list. */
  identify({ scope, list: { opening, bytes, checksum }, isRetry }: Asked, nowMs: number): AskedList {
    const family = this.#familyOf(conversationId(scope, 'prefix', opening), nowMs)
    const longest = longestOf(family.nodes, { bytes, checksum })
    const list = { family: family.id, length: bytes.length, checksum }
    if (longest?.length === bytes.length) {
      if (!isRetry) longest.asked++
      moveToEnd(family.nodes, longest)
      return { ...list, id: longest.id, from: undefined }
    }
    const id = longest === undefined ? family.id : continuation(longest, `${bytes.length} ${checksum}`)
    this.#add(family.nodes, { length: bytes.length, checksum, id, asked: 1, continued: 0 })
    return { ...list, id, from: longest && [longest.length, longest.checksum] }
  }

  /** Remembers a list that another process was asked. */
  learn({ family: familyId, length, checksum, id, from }: AskedList, nowMs: number): void {
    const { nodes } = this.#familyOf(familyId, nowMs)
    const known = find(nodes, [length, checksum])
    if (known !== undefined) {
      known.asked++
      return
    }
    const before = from && find(nodes, from)
    if (before !== undefined && before.continued < before.asked) before.continued++
    this.#add(nodes, { length, checksum, id, asked: 1, continued: 0 })
  }

  #familyOf(id: string, nowMs: number): Family {
    const known = this.#families.get(id, nowMs)
    if (known !== undefined) return known
    const family: Family = { id, nodes: [] }
    this.#families.add(id, family, nowMs)
    return family
  }

  #add(nodes: Node[], node: Node): void {
    if (nodes.length === MOST_OF_FAMILY) nodes.shift()
    else this.#size++
    nodes.push(node)
    while (this.#size > MOST_NODES) this.#families.evict()
  }
}

/** Returns the conversation of a list that goes on from `node`: another one when as many began alike. */
function continuation(node: Node, list: string): string {
  if (node.continued >= node.asked) return node.id
  node.continued++
  return node.continued === 1 ? node.id : conversationId(node.id, list)
}

function find(nodes: readonly Node[], [length, checksum]: readonly [number, number]): Node | undefined {
  return nodes.find((node) => node.length === length && node.checksum === checksum)
}

function moveToEnd(nodes: Node[], node: Node): void {
  nodes.splice(nodes.indexOf(node), 1)
  nodes.push(node)
}

/** Returns the longest list with which these messages begin. */
function longestOf(
  nodes: readonly Node[],
  { bytes, checksum }: Pick<MessageList, 'bytes' | 'checksum'>,
): Node | undefined {
  const whole = find(nodes, [bytes.length, checksum])
  if (whole !== undefined) return whole
  let [beginning, ofBeginning, compared] = [bytes, checksum, 0]
  const shorter = nodes.filter(({ length }) => length < bytes.length)
  for (const node of shorter.sort((a, b) => b.length - a.length)) {
    if (node.length !== beginning.length) {
      const next = bytes.subarray(0, node.length)
      if (!endsAlike(node.checksum, next)) continue
      if (++compared > MOST_COMPARED) return undefined
      beginning = next
      ofBeginning = checksumOf(next)
    }
    if (node.checksum === ofBeginning) return node
  }
  return undefined
}
