import type { Message, RequestDocument } from 'turnpike/plugin'
import type { PreservedText } from 'turnpike/plugin/bytes'
import { type Match, PIN, pinsIn } from './matches.ts'
import { type RequestText, textsOf } from './texts.ts'
import type { Wishes } from './wishes.ts'

/** Finds where a regular expression matches in each text. */
export type Find = (texts: readonly string[], pattern: string) => Promise<Match[][]>

/** The texts of a request that are to stay; `find` looks for what regular expressions match. */
export async function declare(request: RequestDocument, wishes: Wishes, find: Find): Promise<PreservedText[]> {
  // A pin may be written with escapes: Go's encoding/json writes `<` as `\u003c`.
  const hasPins = wishes.pins && (request.bytes.includes(PIN) || request.bytes.includes('\\u'))
  const hasRules = wishes.tools.length + wishes.ranges.length + wishes.patterns.length + wishes.lastTurns > 0
  // Parsing the messages takes time.
  if (!hasPins && !hasRules) return []
  const { messages } = request
  const texts = hasPins || wishes.patterns.length > 0 ? textsOf(messages) : []
  const values = texts.map(({ text }) => text)
  const matched = hasPins ? matchedTexts(texts, pinsIn(values), PIN) : []
  for (const pattern of wishes.patterns)
    matched.push(...matchedTexts(texts, await find(values, pattern), `pattern ${pattern}`))
  return [
    ...inRanges(messages, wishes.ranges),
    ...inLastTurns(messages, wishes.lastTurns),
    ...ofTools(messages, wishes.tools),
    ...matched,
  ]
}

function matchedTexts(
  texts: readonly RequestText[],
  matches: readonly (readonly Match[])[],
  reason: string,
): PreservedText[] {
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
