import { isObject } from '../../json/json-value.ts'
import type { RequestDocument } from '../request.ts'

/** Names by which a client's requests are one conversation. They are the client's own text. */
export interface ClientSession {
  /** The client's kind of names: equal names of two kinds are two conversations. */
  readonly kind: string
  readonly client?: string | undefined
  readonly name: string
  /** Name of the conversation that started this one. */
  readonly parent?: string | undefined
  /** Name of the topmost conversation, where the client sends it. */
  readonly root?: string | undefined
  readonly agent?: string | undefined
}

/** Headers of a request, lower-case names. */
export type RequestHeaders = NodeJS.Dict<string | string[]>

/** A name as clients form them: UUIDs, prefixed ids. Anything else counts as absent. */
const NAME = /^[\x21-\x7e]{1,200}$/
const LONGEST_AGENT = 64
/** Largest `metadata` and `client_metadata` that are read, in bytes. */
const LARGEST_METADATA = 16_384
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** `metadata.user_id` of Claude Code: words joined by underscores, or, in later versions, JSON in a string. */
const CLAUDE_CODE_USER =
  /"user_id"\s*:\s*"(?:user_[0-9a-f]+_account_[\w-]*?_session_|\{[^{}]{0,1000}?\\"session_id\\"\s*:\s*\\")([\w-]{8,100})/

/** Returns the names of the conversation that a client sends with a request; `undefined` for none. */
export function clientSessionOf(headers: RequestHeaders, document: RequestDocument): ClientSession | undefined {
  return sessionInHeaders(headers) ?? fromBody(headers, document)
}

/** Returns the names that a client sends in headers; `undefined` for none. */
export function sessionInHeaders(headers: RequestHeaders): ClientSession | undefined {
  return (
    claudeCode(headers, nameOf(headers['x-claude-code-session-id'])) ??
    codex(headers) ??
    opencode(headers) ??
    copilot(headers)
  )
}

function fromBody(headers: RequestHeaders, document: RequestDocument): ClientSession | undefined {
  const { fields } = document.shape
  if (fields.has('metadata')) {
    const session = claudeCode(headers, claudeCodeSession(document))
    if (session !== undefined) return session
  }
  if (fields.has('client_metadata')) {
    const session = codexMetadata(document)
    if (session !== undefined) return session
  }
  if (fields.has('conversation')) {
    const session = storedConversation(document)
    if (session !== undefined) return session
  }
  return fields.has('prompt_cache_key') ? cacheKey(document) : undefined
}

function claudeCode(headers: RequestHeaders, session: string | undefined): ClientSession | undefined {
  if (session === undefined) return undefined
  const kind = 'claude-code'
  const agent = nameOf(headers['x-claude-code-agent-id'])
  if (agent === undefined) return { kind, client: kind, name: session, root: session }
  const above = nameOf(headers['x-claude-code-parent-agent-id'])
  const parent = above === undefined ? session : `${session} ${above}`
  return { kind, client: kind, name: `${session} ${agent}`, parent, root: session, agent }
}

function claudeCodeSession(document: RequestDocument): string | undefined {
  const raw = document.raw('metadata')
  if (raw === undefined || raw.length > LARGEST_METADATA) return undefined
  return CLAUDE_CODE_USER.exec(raw.toString('latin1'))?.[1]
}

function codex(headers: RequestHeaders): ClientSession | undefined {
  return codexThread({
    session: headers['session-id'] ?? headers.session_id,
    thread: headers['thread-id'] ?? headers.thread_id,
    parent: headers['x-codex-parent-thread-id'],
    agent: headers['x-openai-subagent'],
  })
}

/** Fields of a turn on a WebSocket, which has the headers of its handshake alone. */
function codexMetadata(document: RequestDocument): ClientSession | undefined {
  if ((document.raw('client_metadata')?.length ?? 0) > LARGEST_METADATA) return undefined
  const metadata = document.field('client_metadata')
  if (!isObject(metadata)) return undefined
  return codexThread({
    session: metadata.session_id ?? metadata['session-id'],
    thread: metadata.thread_id ?? metadata['thread-id'],
    parent: metadata['x-codex-parent-thread-id'] ?? metadata.parent_thread_id,
    agent: metadata['x-openai-subagent'] ?? metadata.subagent,
  })
}

/** A session's first thread has the session's name; those of its sub-agents have names of their own. */
function codexThread(names: Readonly<Record<'session' | 'thread' | 'parent' | 'agent', unknown>>) {
  const kind = 'codex'
  const session = nameOf(names.session)
  const name = nameOf(names.thread) ?? session
  if (name === undefined) return undefined
  const agent = nameOf(names.agent)
  const isBelow = agent !== undefined && session !== undefined && session !== name
  const parent = nameOf(names.parent) ?? (isBelow ? session : undefined)
  return { kind, client: kind, name, parent, root: parent === undefined ? name : session, agent }
}

function opencode(headers: RequestHeaders): ClientSession | undefined {
  const kind = 'opencode'
  const name =
    nameOf(headers['x-session-id']) ?? nameOf(headers['x-session-affinity']) ?? nameOf(headers['x-opencode-session'])
  return name === undefined ? undefined : { kind, client: kind, name, parent: nameOf(headers['x-parent-session-id']) }
}

function copilot(headers: RequestHeaders): ClientSession | undefined {
  const kind = 'copilot'
  const name = nameOf(headers['x-interaction-id'])
  return name === undefined ? undefined : { kind, client: kind, name }
}

/** A conversation that the provider stores (Responses). */
function storedConversation(document: RequestDocument): ClientSession | undefined {
  const value = document.field('conversation')
  const name = nameOf(isObject(value) ? value.id : value)
  return name === undefined ? undefined : { kind: 'stored-conversation', name }
}

/** Many conversations of an application may share a key of the prompt cache: only a UUID names one. */
function cacheKey(document: RequestDocument): ClientSession | undefined {
  const value = document.field('prompt_cache_key')
  return typeof value === 'string' && UUID.test(value) ? { kind: 'codex', name: value } : undefined
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && NAME.test(value) ? value : undefined
}

/** Returns the sub-agent's name, bounded. */
export function agentOf({ agent, parent }: ClientSession): string | undefined {
  return agent?.slice(0, LONGEST_AGENT) ?? (parent === undefined ? undefined : 'subagent')
}
