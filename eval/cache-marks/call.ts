import type { Outline, Place, Prefix } from '../../plugins/prompt-cache/outline.ts'
import type { CachedBlock } from './provider-cache.ts'

/** Part of a prompt: equal names are equal contents. */
export interface Part {
  readonly name: string
  readonly tokens: number
}

/** A call of a model. */
export interface Call {
  readonly atMs: number
  readonly conversation: string
  readonly tools: readonly Part[]
  readonly system: readonly Part[]
  readonly messages: readonly Message[]
}

/** A message of a call. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly isResult?: boolean
  readonly parts: readonly Part[]
}

/** A call as the provider reads it, with the index of the block where each of its parts ends. */
export interface LaidOut {
  readonly blocks: readonly CachedBlock[]
  readonly toolsEnd: number
  readonly systemEnd: number
  readonly messageEnds: readonly number[]
}

const prefixes = new Map<string, number>()

/** Numbers a prefix, by the prefix before it and its last part. */
function numberOf(before: number, { name }: Part): number {
  const key = `${before} ${name}`
  const known = prefixes.get(key)
  if (known !== undefined) return known
  prefixes.set(key, prefixes.size + 1)
  return prefixes.size
}

/** Lays a call out as blocks: tools, system, messages. */
export function layOut({ tools, system, messages }: Call): LaidOut {
  const blocks: CachedBlock[] = []
  let prefix = 0
  const put = (parts: readonly Part[]) => {
    for (const part of parts) {
      prefix = numberOf(prefix, part)
      blocks.push({ prefix, tokens: part.tokens })
    }
    return blocks.length - 1
  }
  const toolsEnd = put(tools)
  const systemEnd = put(system)
  const messageEnds = messages.map(({ parts }) => put(parts))
  return { blocks, toolsEnd, systemEnd, messageEnds }
}

/** Returns the outline that the plugin reads in a call. */
export function outlineOf(call: Call, { blocks, toolsEnd, systemEnd, messageEnds }: LaidOut): Outline {
  const prefixTo = (end: number): Prefix => ({
    tokens: blocks.slice(0, end + 1).reduce((sum, { tokens }) => sum + tokens, 0),
    digest: String(blocks[end]?.prefix ?? ''),
  })
  const shared: Outline['shared'][number][] = []
  if (call.tools.length > 0) shared.push({ ...prefixTo(toolsEnd), place: { kind: 'tools' } })
  if (call.system.length > 0) shared.push({ ...prefixTo(systemEnd), place: { kind: 'system' } })
  return {
    shared,
    count: call.messages.length,
    turn: call.messages.at(-1)?.isResult ? 'result' : 'text',
    depth: Math.floor(call.messages.length / 2),
    prefixes: (counts) => counts.map((count) => prefixTo(messageEnds[count - 1] ?? -1)),
    placeIn: (index) => ({ kind: 'message', index, block: undefined }),
  }
}

/** Returns the block of a place. */
export function blockOf(place: Place, { toolsEnd, systemEnd, messageEnds }: LaidOut): number {
  if (place.kind === 'tools') return toolsEnd
  return place.kind === 'system' ? systemEnd : (messageEnds[place.index] ?? -1)
}
