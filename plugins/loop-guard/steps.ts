import { hash } from 'node:crypto'
import type { ContentBlock, Message, RequestDocument } from 'turnpike/plugin'
import { isErrorText } from './outcome.ts'
import { withoutVolatile } from './volatile.ts'

/** One tool call with its result. */
export interface Call {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly result: string
  readonly isError: boolean
}

/** One step of an agent: its calls, which may be parallel, and their results; or a text without calls. */
export interface Step {
  readonly calls: readonly Call[]
  /** Text of the model. */
  readonly text: string
  /** Text of the user that follows, without what clients add and what differs from time to time. */
  readonly userText: string
  /** Bytes of the step's messages. */
  readonly bytes: number
}

/** Elements that clients add to a user's message by themselves. */
const ADDED = ['system-reminder', 'environment_details', 'environment_context']
/** Steps that are read at most, from the end. */
const MOST_STEPS = 600
/** Parallel calls of a step. One with more is read no further: it is no part of a loop. */
const MOST_CALLS = 64

/**
 * Yields the steps of a conversation from its end, back to the last new message of the user: what was before it is no part of
 * a loop. A text that follows every step is no new message.
 */
export function* stepsFromEnd(request: RequestDocument): Generator<Step, void> {
  let later: Step | undefined
  for (const step of allFromEnd(request)) {
    if (step.calls.length > MOST_CALLS) break
    if (later !== undefined) {
      const isNew = later.userText !== '' && later.userText !== step.userText
      if (!isNew || later.calls.length === 0) yield later
      if (isNew) return
    }
    later = step
  }
  if (later !== undefined && (later.userText === '' || later.calls.length === 0)) yield later
}

function* allFromEnd(request: RequestDocument): Generator<Step, void> {
  const { messages } = request.shape
  let end = messages.length
  // A beginning of the answer that the client gives is no step.
  while (end > 0 && request.message(end - 1).role === 'assistant') end--
  for (let count = 0; end > 0 && count < MOST_STEPS; count++) {
    const answered = startOf(request, end, (role) => role !== 'assistant')
    const start = startOf(request, answered, (role) => role === 'assistant')
    if (start === answered) return
    const read = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => request.message(from + index))
    const bytes = (messages[end - 1]?.end ?? 0) - (messages[start]?.start ?? 0)
    yield stepOf(read(start, answered), read(answered, end), bytes)
    end = start
  }
}

function startOf(request: RequestDocument, end: number, belongs: (role: Message['role']) => boolean): number {
  let start = end
  while (start > 0 && belongs(request.message(start - 1).role)) start--
  return start
}

function stepOf(spoken: readonly Message[], answered: readonly Message[], bytes: number): Step {
  const blocks = spoken.flatMap(blocksOf)
  const replies = answered.filter(({ role }) => role === 'user').flatMap(blocksOf)
  const results = new Map(
    replies.flatMap((block) => (block.type === 'tool_result' ? [[block.tool_use_id, block] as const] : [])),
  )
  const calls = blocks.flatMap((block): Call[] => {
    if (block.type !== 'tool_use') return []
    const reply = results.get(block.id)
    const result = reply === undefined ? '' : textOf(reply.content)
    return [{ name: block.name, input: block.input, result, isError: reply?.is_error === true || isErrorText(result) }]
  })
  return { calls, text: spokenIn(blocks), userText: withoutVolatile(withoutAdded(spokenIn(replies)).trim()), bytes }
}

function blocksOf({ content }: Message): ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function spokenIn(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

/** Returns the text of a result; other parts as their digests. */
function textOf(content: string | readonly ContentBlock[] | null | undefined): string {
  if (typeof content === 'string') return withoutAdded(content)
  const parts = (content ?? []).map((block) =>
    block.type === 'text' ? withoutAdded(block.text) : `[${block.type} ${hash('sha256', JSON.stringify(block))}]`,
  )
  return parts.join('\n')
}

/** Removes elements that the client has added, without a regular expression, for which unclosed ones would be quadratic. */
function withoutAdded(text: string): string {
  return ADDED.reduce((rest, name) => withoutElement(rest, `<${name}>`, `</${name}>`), text)
}

function withoutElement(text: string, opening: string, closing: string): string {
  const parts: string[] = []
  let at = 0
  for (;;) {
    const start = text.indexOf(opening, at)
    const end = start === -1 ? -1 : text.indexOf(closing, start)
    if (end === -1) return at === 0 ? text : parts.join('') + text.slice(at)
    parts.push(text.slice(at, start))
    at = end + closing.length
  }
}
