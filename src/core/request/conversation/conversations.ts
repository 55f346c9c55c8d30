import { BoundedMap } from '../../bounded-map.ts'
import type { Caller } from '../caller.ts'
import type { RequestDocument } from '../request.ts'
import { agentOf, type ClientSession, clientSessionOf, type RequestHeaders } from './client-session.ts'
import { type Conversation, conversationId } from './conversation.ts'
import { messageListOf } from './message-list.ts'
import { PrefixIndex } from './prefix-index.ts'

/** The parts of a request by which its conversation is recognised. */
export interface ConversationSource {
  readonly caller: Pick<Caller, 'scope'>
  readonly headers: RequestHeaders
  /** The client's own body. */
  readonly document: RequestDocument
}

/** State of a conversation in this process. */
interface Known {
  turn: number
  rootId: string
}

type Names = Omit<Conversation, 'turn' | 'rootId'> & { readonly rootId?: string | undefined }

const MOST_KNOWN = 16_384
const IDLE_MS = 24 * 3_600_000

/** Recognises the conversations of a process's requests. Bounded: a forgotten conversation begins with turn 1 again. */
export class Conversations {
  readonly #nowMs: () => number
  readonly #known = new BoundedMap<Known>({ most: MOST_KNOWN, idleMs: IDLE_MS })
  readonly #prefixes = new PrefixIndex()

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs
  }

  /** Returns the conversation of a request and counts a turn of it. Call it once for each request. */
  enter(source: ConversationSource): Conversation {
    const nowMs = this.#nowMs()
    const { scope } = source.caller
    const session = clientSessionOf(source.headers, source.document)
    const names = session === undefined ? this.#byPrefix(source, nowMs) : namesOf(scope, session)
    const rootId = this.#rootOf(names, nowMs)
    const known = this.#knownOf(names.id, nowMs)
    known.turn++
    known.rootId = rootId
    return { ...names, rootId, turn: known.turn }
  }

  #knownOf(id: string, nowMs: number): Known {
    const known = this.#known.get(id, nowMs)
    if (known !== undefined) return known
    const fresh: Known = { turn: 0, rootId: id }
    this.#known.add(id, fresh, nowMs)
    return fresh
  }

  #rootOf({ id, parentId, rootId }: Names, nowMs: number): string {
    if (rootId !== undefined) return rootId
    return parentId === undefined ? id : (this.#known.get(parentId, nowMs)?.rootId ?? parentId)
  }

  #byPrefix({ caller: { scope }, headers, document }: ConversationSource, nowMs: number): Names {
    const list = messageListOf(document)
    const isRetry = Number(headers['x-stainless-retry-count'] ?? 0) > 0
    const id =
      list === undefined ? conversationId(scope, 'empty') : this.#prefixes.identify({ scope, list, isRetry }, nowMs)
    return { id, source: 'prefix', client: undefined, parentId: undefined, agent: undefined }
  }
}

function namesOf(scope: string, session: ClientSession): Names {
  const { kind, client, name, parent, root } = session
  const idOf = (text: string) => conversationId(scope, kind, text)
  const id = idOf(name)
  return {
    id,
    source: 'client',
    client,
    parentId: parent === undefined || parent === name ? undefined : idOf(parent),
    rootId: root === undefined ? undefined : root === name ? id : idOf(root),
    agent: agentOf(session),
  }
}
