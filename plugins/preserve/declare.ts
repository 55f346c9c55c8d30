import type { Message, PreservedText, RequestDocument } from 'turnpike/plugin'
import { type Match, type matchesIn, PIN, pinsIn } from './matches.ts'
import { textsOf } from './texts.ts'
import type { Wishes } from './wishes.ts'

/** The texts of a request that are to stay; `find` looks for what regular expressions match. */
export function declare(request: RequestDocument, wishes: Wishes, find: typeof matchesIn): PreservedText[] {
  // A pin may be written with escapes: Go's encoding/json writes `<` as `\u003c`.
  const hasPins = wishes.pins && (request.bytes.includes(PIN) || request.bytes.includes('\\u'))
  const hasRules = wishes.tools.length + wishes.ranges.length + wishes.patterns.length + wishes.lastTurns > 0
  // The messages are parsed only for somebody.
  if (!hasPins && !hasRules) return []
  const { messages } = request
  const matched = [
    ...(hasPins ? matchedTexts(messages, pinsIn, PIN) : []),
    ...wishes.patterns.flatMap((pattern) =>
      matchedTexts(messages, (texts) => find(texts, pattern), `pattern ${pattern}`),
    ),
  ]
  return [
    ...inRanges(messages, wishes.ranges),
    ...inLastTurns(messages, wishes.lastTurns),
    ...ofTools(messages, wishes.tools),
    ...matched,
  ]
}

function matchedTexts(
  messages: readonly Message[],
  find: (texts: readonly string[]) => Match[][],
  reason: string,
): PreservedText[] {
  const texts = textsOf(messages)
  const matches = find(texts.map(({ text }) => text))
  return texts.flatMap(({ path }, index) =>
    (matches[index] ?? []).map(([start, end]) => ({ path, start, end, reason })),
  )
}

function inRanges(messages: readonly Message[], ranges: readonly string[]): PreservedText[] {
  return ranges.flatMap((range) => {
    const [first = '', last] = range.split('-')
    const end = last === undefined ? Number(first) : last === '' ? messages.length - 1 : Number(last)
    return wholeMessages(messages, { from: Number(first), to: end + 1, reason: `range ${range}` })
  })
}

function inLastTurns(messages: readonly Message[], count: number): PreservedText[] {
  if (count === 0) return []
  const starts = messages.flatMap((message, index) => (beginsTurn(message) ? [index] : []))
  const from = starts.at(-count) ?? 0
  return wholeMessages(messages, { from, to: messages.length, reason: `last ${count} turns` })
}

/** A turn begins with what a user writes; results of tools belong to the turn in which they were asked for. */
function beginsTurn({ role, content }: Message): boolean {
  return role === 'user' && (typeof content === 'string' || content.some(({ type }) => type === 'text'))
}

function wholeMessages(
  messages: readonly Message[],
  { from, to, reason }: { from: number; to: number; reason: string },
): PreservedText[] {
  return messages.slice(from, to).map((_, index) => ({ path: ['messages', from + index], reason }))
}

function ofTools(messages: readonly Message[], tools: readonly string[]): PreservedText[] {
  if (tools.length === 0) return []
  const wanted = new Set<string>()
  const preserved: PreservedText[] = []
  for (const [message, { content }] of messages.entries()) {
    if (typeof content === 'string') continue
    for (const [index, block] of content.entries()) {
      if (block.type === 'tool_use' && tools.some((tool) => fits(block.name, tool))) wanted.add(block.id)
      if (block.type !== 'tool_result' || block.content == null || !wanted.has(block.tool_use_id)) continue
      preserved.push({ path: ['messages', message, 'content', index, 'content'], reason: 'tool' })
    }
  }
  return preserved
}

function fits(name: string, tool: string): boolean {
  return tool.endsWith('*') ? name.startsWith(tool.slice(0, -1)) : name === tool
}
