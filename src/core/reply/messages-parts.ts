import { type Child, children } from '../json/scan.ts'
import { ALL_ENDED, type EventParts, NO_PARTS, type PartReader, type ReplyPart } from './reply-parts.ts'
import { lastNamed, membersOf, objectsIn } from './usage-check.ts'

/** Thinking is signed, and results of the provider's own tools have been used already: neither is a part. */
const EMPTY_OBJECT = /^\{\s*\}$/
const DELTA_MEMBERS: Readonly<Record<string, { readonly kind: ReplyPart['kind']; readonly member: string }>> = {
  '"text_delta"': { kind: 'text', member: 'text' },
  '"input_json_delta"': { kind: 'input', member: 'partial_json' },
}

/** Finds the parts of a JSON message. Throws `ScanError`. */
export function partsOfMessage(json: string): ReplyPart[] {
  return partsOfContent(json, lastNamed(children(json, json.indexOf('{')), 'content'))
}

function partsOfContent(json: string, content: Child | undefined): ReplyPart[] {
  return objectsIn(json, content).flatMap((block, index) => partsOfBlock(json, block, `block ${index}`))
}

/** Returns the parts of a whole block in the order of their places. */
function partsOfBlock(json: string, block: readonly Child[], key: string): ReplyPart[] {
  const citations = objectsIn(json, lastNamed(block, 'citations')).flatMap((citation, number) =>
    partsOfCitation(json, citation, `${key} citation ${number}`),
  )
  const part = partOfBlock(json, block, key)
  return part === undefined ? citations : [...citations, part].sort((a, b) => a.start - b.start)
}

const QUOTED = ['cited_text', 'document_title', 'title']

/** Returns the texts of a citation: each is whole, so it has a key of its own. */
function partsOfCitation(json: string, citation: readonly Child[], key: string): ReplyPart[] {
  return citation.flatMap((member) => {
    const name = member.key ?? ''
    if (!QUOTED.includes(name)) return []
    return stringPart(json, member, { kind: 'citation', key: `${key} ${name}`, tool: '' }) ?? []
  })
}

/** Returns the part of a whole block, or of one that begins. */
function partOfBlock(json: string, block: readonly Child[], key: string): ReplyPart | undefined {
  const type = rawOf(json, lastNamed(block, 'type'))
  if (type === '"text"') return stringPart(json, lastNamed(block, 'text'), { kind: 'text', key, tool: '' })
  const input = type === '"tool_use"' ? lastNamed(block, 'input') : undefined
  const raw = rawOf(json, input)
  if (input === undefined || !raw.startsWith('{') || EMPTY_OBJECT.test(raw)) return undefined
  return { kind: 'input', key, tool: toolOf(json, block), start: input.start, end: input.end }
}

/** Creates a reader for a stream of Messages events. */
export function createMessagesPartReader(): PartReader {
  /** Names of tools, by the raw index of the open block. */
  const tools = new Map<string, string>()
  const readers: Readonly<Record<string, (data: string, event: readonly Child[]) => EventParts>> = {
    message_start(data, event) {
      const parts = partsOfContent(data, lastNamed(membersOf(data, lastNamed(event, 'message')), 'content'))
      return { parts, ended: parts.map(({ key }) => key) }
    },
    content_block_start(data, event) {
      const key = rawOf(data, lastNamed(event, 'index'))
      const block = membersOf(data, lastNamed(event, 'content_block'))
      tools.set(key, toolOf(data, block))
      const part = partOfBlock(data, block, key)
      return part === undefined ? NO_PARTS : { parts: [part], ended: [] }
    },
    content_block_delta(data, event) {
      const key = rawOf(data, lastNamed(event, 'index'))
      const delta = membersOf(data, lastNamed(event, 'delta'))
      const citation = membersOf(data, lastNamed(delta, 'citation'))
      if (citation.length > 0) {
        const parts = partsOfCitation(data, citation, `${key} citation`)
        return { parts, ended: parts.map((part) => part.key) }
      }
      const found = DELTA_MEMBERS[rawOf(data, lastNamed(delta, 'type'))]
      if (found === undefined) return NO_PARTS
      const tool = tools.get(key) ?? ''
      const part = stringPart(data, lastNamed(delta, found.member), { kind: found.kind, key, tool })
      return part === undefined ? NO_PARTS : { parts: [part], ended: [] }
    },
    content_block_stop(data, event) {
      const key = rawOf(data, lastNamed(event, 'index'))
      tools.delete(key)
      return { parts: [], ended: [key] }
    },
    message_delta: () => ALL_ENDED,
    message_stop: () => ALL_ENDED,
    error: () => ALL_ENDED,
  }
  return {
    read(name, data) {
      if (name === 'ping') return NO_PARTS
      const event = children(data, data.indexOf('{'))
      const type = name === 'message' ? rawOf(data, lastNamed(event, 'type')).slice(1, -1) : name
      return readers[type]?.(data, event) ?? NO_PARTS
    },
  }
}

/** Returns the part of a non-empty string. */
export function stringPart(
  json: string,
  value: Child | undefined,
  part: Pick<ReplyPart, 'kind' | 'key' | 'tool'>,
): ReplyPart | undefined {
  if (value === undefined || json[value.start] !== '"' || value.end - value.start <= 2) return undefined
  return { ...part, start: value.start, end: value.end }
}

/** Returns the raw value, or '' for none. */
export function rawOf(json: string, value: Child | undefined): string {
  return value === undefined ? '' : json.slice(value.start, value.end)
}

function toolOf(json: string, block: readonly Child[]): string {
  return textAt(json, lastNamed(block, 'name'))
}

/** Decodes a string value; '' for any other. */
export function textAt(json: string, value: Child | undefined): string {
  const raw = rawOf(json, value)
  return raw.startsWith('"') ? String(JSON.parse(Buffer.from(raw, 'latin1').toString())) : ''
}
