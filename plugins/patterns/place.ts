import type { ContentBlock, Edit, Message, RequestDocument } from 'turnpike/plugin'
import type { Injection } from './decide.ts'
import { isImitating, neutralised } from './tag.ts'

/** Injections of one user message. */
export interface Placement {
  readonly index: number
  readonly injections: readonly Injection[]
}

/**
 * Returns the edits that insert texts and neutralise imitations of their tag. Every other byte is the client's,
 * including its cache marks: those move from call to call, so no position may depend on them.
 */
export function editsFor(request: RequestDocument, placements: readonly Placement[]): Edit[] {
  const edits = systemEdits(
    request,
    placements.flatMap(({ injections }) => injections.filter(isForSystem)),
  )
  const byIndex = new Map(
    placements.map(({ index, injections }) => [index, injections.filter((one) => !isForSystem(one))]),
  )
  for (const [index, message] of request.messages.entries()) {
    if (message.role === 'user')
      edits.push(...messageEdits(request, { index, message, injections: byIndex.get(index) ?? [] }))
  }
  return edits
}

function isForSystem({ position }: Injection): boolean {
  return position === 'system-append'
}

/** Appends behind all of the client's blocks, and so behind its cache marks. */
function systemEdits(request: RequestDocument, injections: readonly Injection[]): Edit[] {
  if (injections.length === 0) return []
  const system = request.field('system')
  if (Array.isArray(system)) return injections.map((one) => ({ op: 'add', path: ['system', '-'], value: blockOf(one) }))
  const own = typeof system === 'string' && system !== '' ? request.raw('system') : undefined
  return [{ op: 'add', path: ['system'], value: arrayOf(own, { before: [], behind: injections }) }]
}

interface Place {
  readonly index: number
  readonly message: Message
  readonly injections: readonly Injection[]
}

function messageEdits(request: RequestDocument, { index, message, injections }: Place): Edit[] {
  const path = ['messages', index, 'content'] as const
  const { content } = message
  const before = injections.filter(({ position }) => position === 'user-prepend')
  const behind = injections.filter(({ position }) => position === 'user-append')
  if (typeof content === 'string') {
    if (injections.length === 0) return harmlessEdits(request, content, path)
    const raw = request.rawAt(path)
    const own = raw && isImitating(content) ? neutralised(content, raw) : raw
    return [{ op: 'replace', path, value: arrayOf(content === '' ? undefined : own, { before, behind }) }]
  }
  // Tool results must come first in their message.
  const start = content.findLastIndex(({ type }) => type === 'tool_result') + 1
  return [
    ...content.flatMap((block, i) => blockEdits(request, block, [...path, i])),
    ...before.map((one): Edit => ({ op: 'add', path: [...path, start], value: blockOf(one) })),
    ...behind.map((one): Edit => ({ op: 'add', path: [...path, '-'], value: blockOf(one) })),
  ]
}

type Path = readonly (string | number)[]

/** Returns the edits of a block: the user's text, or a tool's result. */
function blockEdits(request: RequestDocument, block: ContentBlock, path: Path): Edit[] {
  if (block.type === 'text') return harmlessEdits(request, block.text, [...path, 'text'])
  if (block.type !== 'tool_result') return []
  const { content } = block
  if (typeof content === 'string') return harmlessEdits(request, content, [...path, 'content'])
  return (content ?? []).flatMap((part, i) =>
    part.type === 'text' ? harmlessEdits(request, part.text, [...path, 'content', i, 'text']) : [],
  )
}

function harmlessEdits(request: RequestDocument, text: string, path: Path): Edit[] {
  const raw = isImitating(text) ? request.rawAt(path) : undefined
  return raw === undefined ? [] : [{ op: 'replace', path, value: neutralised(text, raw) }]
}

function blockOf({ text }: Injection): { type: 'text'; text: string } {
  return { type: 'text', text }
}

/** Returns a list of blocks as raw JSON: the client's own bytes with the injected blocks inserted. */
function arrayOf(
  own: Buffer | undefined,
  { before, behind }: { before: readonly Injection[]; behind: readonly Injection[] },
): Buffer {
  const print = (injections: readonly Injection[]) => injections.map((one) => Buffer.from(JSON.stringify(blockOf(one))))
  const block = own === undefined ? [] : [Buffer.concat([OWN_START, own, OWN_END])]
  const blocks = [...print(before), ...block, ...print(behind)]
  return Buffer.concat([LIST_START, ...blocks.flatMap((one, i) => (i === 0 ? [one] : [COMMA, one])), LIST_END])
}

const OWN_START = Buffer.from('{"type":"text","text":')
const OWN_END = Buffer.from('}')
const LIST_START = Buffer.from('[')
const LIST_END = Buffer.from(']')
const COMMA = Buffer.from(',')
