import type { Message, RequestDocument } from 'turnpike/plugin'
import type { PreservedText } from 'turnpike/plugin/bytes'
import { type Match, PIN, pinsIn } from './matches.ts'
import type { PreserveRules } from './rules.ts'
import { type RequestText, textsOf } from './texts.ts'

/** Finds the matches of a regular expression in each text. */
export type Find = (texts: readonly string[], pattern: string) => Promise<Match[][]>

/** Returns the texts of a request that must be preserved; `find` searches for regular expressions. */
export async function declare(request: RequestDocument, rules: PreserveRules, find: Find): Promise<PreservedText[]> {
  // A pin may have escapes: Go's encoding/json writes `<` as `\u003c`.
  const hasPins = rules.pins && (request.bytes.includes(PIN) || request.bytes.includes('\\u'))
  const hasRules = rules.tools.length + rules.ranges.length + rules.patterns.length + rules.lastTurns > 0
  // Parsing the messages takes time.
  if (!hasPins && !hasRules) return []
  const { messages } = request
  const texts = hasPins || rules.patterns.length > 0 ? textsOf(messages) : []
  const values = texts.map(({ text }) => text)
  const matched = hasPins ? matchedTexts(texts, pinsIn(values), PIN) : []
  for (const pattern of rules.patterns)
    matched.push(...matchedTexts(texts, await find(values, pattern), `pattern ${pattern}`))
  return [
    ...inRanges(messages, rules.ranges),
    ...inLastTurns(messages, rules.lastTurns),
    ...ofTools(messages, rules.tools),
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

/** Tests for the beginning of a turn: a user's text; tool results belong to the turn of their calls. */
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
