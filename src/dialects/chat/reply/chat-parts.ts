import { type Child, children } from '../../../core/json/scan.ts'
import { rawOf, stringPart, textAt } from '../../../core/reply/messages-parts.ts'
import { ALL_ENDED, type PartReader, type ReplyPart } from '../../../core/reply/reply-parts.ts'
import { lastNamed, membersOf, objectsIn } from '../../../core/reply/usage-check.ts'

/** A call of a stream: its key, and the members of its first chunk. */
interface KnownCall {
  readonly key: string
  readonly id: string
  readonly tool: string
}

/** Returns the parts of a JSON chat completion, of all its choices. Throws `ScanError`. */
export function partsOfCompletion(json: string): ReplyPart[] {
  const choices = objectsIn(json, lastNamed(children(json, json.indexOf('{')), 'choices'))
  return choices.flatMap((choice, index) => {
    const message = membersOf(json, lastNamed(choice, 'message'))
    const calls = callsIn(json, message).map((call) => ({ call, key: `${index}/${call.number}`, tool: call.tool }))
    return [...textsIn(json, message, String(index)), ...calls.flatMap((found) => argumentsPart(json, found) ?? [])]
  })
}

/** Creates a reader for a stream of chat completion chunks. */
export function createChatPartReader(): PartReader {
  /** Calls by choice, and within it by their number in the stream. */
  const known = new Map<string, Map<string, KnownCall>>()
  /** Keys of thinking that has not ended, by choice. */
  const open = new Map<string, Set<string>>()
  return {
    read(_name, data) {
      if (data.startsWith('[DONE]')) return ALL_ENDED
      const parts: ReplyPart[] = []
      const ended: string[] = []
      for (const [position, choice] of objectsIn(
        data,
        lastNamed(children(data, data.indexOf('{')), 'choices'),
      ).entries()) {
        const index = rawOf(data, lastNamed(choice, 'index')) || String(position)
        const calls = known.get(index) ?? new Map<string, KnownCall>()
        known.set(index, calls)
        const thinking = open.get(index) ?? new Set<string>()
        open.set(index, thinking)
        const found = readChoice(data, choice, { index, calls, thinking })
        parts.push(...found.parts)
        ended.push(...found.ended)
      }
      return { parts, ended }
    },
  }
}

/** Reads the delta of a choice. Texts end where calls begin, calls at the finish reason, since they may be interleaved. */
function readChoice(
  json: string,
  choice: readonly Child[],
  { index, calls, thinking }: { index: string; calls: Map<string, KnownCall>; thinking: Set<string> },
): { readonly parts: readonly ReplyPart[]; readonly ended: readonly string[] } {
  const delta = membersOf(json, lastNamed(choice, 'delta'))
  const pieces = callsIn(json, delta)
  const isFinished = json[lastNamed(choice, 'finish_reason')?.start ?? -1] === '"'
  const ended = pieces.length > 0 || isFinished ? textKeys(index) : []
  const inputs = pieces.flatMap((call) => {
    const { current, replaced } = takeCall(calls, call, index)
    if (replaced !== undefined) ended.push(replaced)
    return argumentsPart(json, { call, ...current }) ?? []
  })
  if (isFinished) ended.push(...Array.from(calls.values(), ({ key }) => key))
  const texts = textsIn(json, delta, index)
  // The answer begins where thinking ends: what is held of that must not delay it.
  if (pieces.length > 0 || isFinished || texts.some(({ kind }) => kind === 'text')) {
    ended.push(...thinking)
    thinking.clear()
  }
  for (const { kind, key } of texts) if (kind === 'reasoning') thinking.add(key)
  return { parts: [...texts, ...inputs], ended }
}

/** Returns the call that a piece belongs to. Gemini gives several calls one number: another id begins another call. */
function takeCall(
  calls: Map<string, KnownCall>,
  { number, id, tool }: CallPart,
  index: string,
): { current: KnownCall; replaced?: string } {
  const before = calls.get(number)
  if (before !== undefined && (id === '' || before.id === id)) return { current: before }
  const current = { key: `${index}/${number}/${id}`, id, tool }
  calls.set(number, current)
  return before === undefined ? { current } : { current, replaced: before.key }
}

/** Members with thinking, as DeepSeek, vLLM and OpenRouter send it; never signed. */
const REASONING = ['reasoning_content', 'reasoning']

function textKeys(index: string): string[] {
  return [`${index}:content`, `${index}:refusal`]
}

/** Returns the texts of a message or delta; some servers send the content in parts. */
function textsIn(json: string, said: readonly Child[], index: string): ReplyPart[] {
  const [key = '', refusalKey = ''] = textKeys(index)
  const content = lastNamed(said, 'content')
  const texts = objectsIn(json, content).map((part) =>
    rawOf(json, lastNamed(part, 'type')) === '"text"' ? lastNamed(part, 'text') : undefined,
  )
  const found = [content, ...texts].map((value) => stringPart(json, value, { kind: 'text', key, tool: '' }))
  const refusal = stringPart(json, lastNamed(said, 'refusal'), { kind: 'text', key: refusalKey, tool: '' })
  const reasoning = REASONING.map((name) =>
    stringPart(json, lastNamed(said, name), { kind: 'reasoning', key: `${index}:${name}`, tool: '' }),
  )
  const parts = [...found, refusal, ...reasoning].filter((part) => part !== undefined)
  return parts.sort((a, b) => a.start - b.start)
}

/** A call of a message, or the piece of one in a delta. */
interface CallPart {
  readonly number: string
  readonly id: string
  readonly tool: string
  readonly kind: 'input' | 'free_input'
  readonly input: Child | undefined
}

/** Returns the calls of a message or delta, the legacy `function_call` included. */
function callsIn(json: string, said: readonly Child[]): CallPart[] {
  const calls = objectsIn(json, lastNamed(said, 'tool_calls')).map((call, position) => {
    const number = rawOf(json, lastNamed(call, 'index')) || String(position)
    const found = { number, id: textAt(json, lastNamed(call, 'id')) }
    const custom = membersOf(json, lastNamed(call, 'custom'))
    if (custom.length > 0) return callOf(json, custom, { ...found, kind: 'free_input' })
    return callOf(json, membersOf(json, lastNamed(call, 'function')), found)
  })
  const legacy = membersOf(json, lastNamed(said, 'function_call'))
  return legacy.length === 0 ? calls : [...calls, callOf(json, legacy, { number: 'function', id: '' })]
}

function callOf(
  json: string,
  called: readonly Child[],
  { kind = 'input', ...call }: Pick<CallPart, 'number' | 'id'> & Partial<Pick<CallPart, 'kind'>>,
): CallPart {
  const input = lastNamed(called, kind === 'input' ? 'arguments' : 'input')
  return { ...call, kind, tool: textAt(json, lastNamed(called, 'name')), input }
}

/** Returns the arguments as a part: a string, of JSON unless the tool is a custom one; some servers send the object itself. */
function argumentsPart(
  json: string,
  { call: { input, kind }, key, tool }: { call: CallPart; key: string; tool: string },
): ReplyPart | undefined {
  if (input !== undefined && json[input.start] === '{')
    return { kind: 'input', key, tool, start: input.start, end: input.end }
  return stringPart(json, input, { kind, key, tool })
}
