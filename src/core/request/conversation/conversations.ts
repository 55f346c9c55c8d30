import { BoundedMap } from '../../bounded-map.ts'
import type { Caller } from '../caller.ts'
import type { RequestDocument } from '../request.ts'
import {
  agentOf,
  type ClientSession,
  clientSessionOf,
  type RequestHeaders,
  sessionInHeaders,
} from './client-session.ts'
import { type Conversation, conversationId } from './conversation.ts'
import { messageListOf } from './message-list.ts'
import { type AskedList, PrefixIndex } from './prefix-index.ts'

/** The parts of a request by which its conversation is recognised. */
export interface ConversationSource {
  readonly caller: Pick<Caller, 'scope'>
  readonly headers: RequestHeaders
  /** The client's own body. */
  readonly document: RequestDocument
  /** Id of the conversation of the stored response that the request continues. */
  readonly continued?: string | undefined
}

/** A turn that was entered, for other processes. */
export interface EnteredTurn {
  readonly id: string
  readonly turn: number
  readonly rootId: string
  readonly list?: AskedList | undefined
}

/** State of a conversation in this process. */
interface Known {
  turn: number
  rootId: string
}

type Names = Omit<Conversation, 'turn' | 'rootId'> & {
  readonly rootId?: string | undefined
  readonly list?: AskedList | undefined
}

const MOST_KNOWN = 16_384
const IDLE_MS = 24 * 3_600_000

/** Recognises the conversations of a process's requests. Bounded: a forgotten conversation begins with turn 1 again. */
export class Conversations {
  readonly #nowMs: () => number
  readonly #known = new BoundedMap<Known>({ most: MOST_KNOWN, idleMs: IDLE_MS })
  readonly #prefixes = new PrefixIndex()
  /** Called for each turn. */
  onTurn: ((turn: EnteredTurn) => void) | undefined

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs
  }

  /** Returns the conversation of a request and counts a turn of it. Call it once for each request. */
  enter(source: ConversationSource): Conversation {
    const nowMs = this.#nowMs()
    const { scope } = source.caller
    const session = clientSessionOf(source.headers, source.document)
    const { list, ...names } = session === undefined ? this.#unnamed(source, nowMs) : namesOf(scope, session)
    const rootId = this.#rootOf(names, nowMs)
    const known = this.#knownOf(names.id, nowMs)
    known.turn++
    known.rootId = rootId
    this.onTurn?.({ id: names.id, turn: known.turn, rootId, list })
    return { ...names, rootId, turn: known.turn }
  }

  /** Takes over a turn of another process. */
  learn({ id, turn, rootId, list }: EnteredTurn): void {
    const nowMs = this.#nowMs()
    const known = this.#knownOf(id, nowMs)
    known.turn = Math.max(known.turn, turn)
    known.rootId = rootId
    if (list !== undefined) this.#prefixes.learn(list, nowMs)
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

  /** Recognises the conversation of a request whose client sends no name. */
  #unnamed({ caller: { scope }, headers, document, continued }: ConversationSource, nowMs: number): Names {
    const unnamed = { source: 'prefix', client: undefined, parentId: undefined, agent: undefined } as const
    if (continued !== undefined) return { id: continued, ...unnamed }
    const messages = messageListOf(document)
    if (messages === undefined) return { id: conversationId(scope, 'empty'), ...unnamed }
    const isRetry = Number(headers['x-stainless-retry-count'] ?? 0) > 0
    const list = this.#prefixes.identify({ scope, list: messages, isRetry }, nowMs)
    return { id: list.id, list, ...unnamed }
  }
}

/** Returns the conversation that a refused request names in its headers, without counting a turn: its turn is 0. */
export function conversationNamed(scope: string, headers: RequestHeaders): Conversation | undefined {
  const session = sessionInHeaders(headers)
  if (session === undefined) return undefined
  const { rootId, ...names } = namesOf(scope, session)
  return { ...names, rootId: rootId ?? names.parentId ?? names.id, turn: 0 }
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
