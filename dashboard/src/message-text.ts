import { readable } from './readable.ts'

/** Part of a message, in readable form. */
export interface MessagePart {
  /** Role or kind: `user`, `tool result`, `call of Bash`, `thinking`. */
  readonly title: string
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>

/** Roles and kinds of a model's own part of a conversation, in the three dialects. */
const OWN_TYPES = new Set(['function_call', 'custom_tool_call', 'reasoning', 'web_search_call'])

/** Returns the messages of a request since the model's last one; `undefined` for a body that is none, or is cut. */
export function newParts(request: string): MessagePart[] | undefined {
  const body = parsed(request)
  if (body === undefined) return undefined
  const { messages, input } = body
  if (typeof input === 'string') return [{ title: 'user', text: input }]
  const all = listOf(messages ?? input)
  return all.slice(all.findLastIndex(isOwn) + 1).flatMap(partsOf)
}

function isOwn({ role, type }: Fields): boolean {
  return role === 'assistant' || OWN_TYPES.has(String(type))
}

/** Returns the parts of a reply in JSON or as events, whole or as far as they came; `undefined` when it has none. */
export function replyParts(reply: string): MessagePart[] | undefined {
  const body = parsed(reply)
  const parts = body === undefined ? eventParts(reply) : bodyParts(body)
  return parts.length === 0 ? undefined : parts
}

/** Returns the message of the error in a reply, in JSON or as an event; `undefined` without one. */
export function errorIn(reply: string): string | undefined {
  const events = reply.split('\n').filter((line) => line.startsWith('data:'))
  const bodies = events.length === 0 ? [reply] : events.map((line) => line.slice('data:'.length))
  for (const body of bodies) {
    const { error, response } = parsed(body) ?? {}
    const found = error ?? fieldsOf(response).error
    if (found !== undefined && found !== null) return String(fieldsOf(found).message ?? textOf(found))
  }
  return undefined
}

function bodyParts({ content, choices, output, error }: Fields): MessagePart[] {
  if (error !== undefined) return [{ title: 'error', text: textOf(error) }]
  if (choices !== undefined) return listOf(choices).flatMap(({ message }) => partsOf(fieldsOf(message)))
  if (output !== undefined) return listOf(output).flatMap(partsOf)
  return partsOf({ role: 'assistant', content })
}

/** Returns the parts of a message of any dialect. */
function partsOf(message: Fields): MessagePart[] {
  const { role, content, tool_calls: calls } = message
  if (role === undefined) return [partOf(message, 'message')]
  const title = role === 'tool' ? 'tool result' : String(role)
  const text =
    typeof content === 'string' ? [{ title, text: content }] : listOf(content).map((block) => partOf(block, title))
  return [...text.filter(({ text }) => text !== ''), ...listOf(calls).map((call) => partOf(call, title))]
}

function partOf(block: Fields, role: string): MessagePart {
  const { type } = block
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { title: role, text: String(block.text ?? '') }
    case 'thinking':
      return { title: 'thinking', text: String(block.thinking ?? '') }
    case 'reasoning':
      return {
        title: 'thinking',
        text: listOf(block.summary)
          .map(({ text }) => String(text ?? ''))
          .join('\n'),
      }
    case 'tool_use':
    case 'server_tool_use':
      return { title: `call of ${String(block.name)}`, text: textOf(block.input) }
    case 'function':
      return callPart(fieldsOf(block.function))
    case 'function_call':
      return callPart(block)
    case 'tool_result':
      return { title: 'tool result', text: resultText(block.content) }
    case 'function_call_output':
      return { title: 'tool result', text: resultText(block.output) }
    default:
      return { title: String(type ?? role), text: textOf(block) }
  }
}

function callPart({ name, arguments: given }: Fields): MessagePart {
  return { title: `call of ${String(name)}`, text: textOf(given) }
}

function resultText(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content)
  return listOf(content)
    .map((block) => partOf(block, 'text').text)
    .join('\n')
}

/** Joins the deltas of a stream; a finished item of a Responses stream replaces its deltas. */
function eventParts(stream: string): MessagePart[] {
  const parts = new Map<string, { title: string; text: string }>()
  const add = (key: string, title: string, text: unknown) => {
    const part = parts.get(key) ?? { title, text: '' }
    parts.set(key, { ...part, text: part.text + String(text ?? '') })
  }
  for (const line of stream.split('\n')) {
    const event = line.startsWith('data:') ? parsed(line.slice('data:'.length)) : undefined
    if (event === undefined) continue
    if (String(event.type).startsWith('response.')) {
      const key = `${String(event.output_index)} `
      if (event.type !== 'response.output_item.done') addResponseDelta(event, add)
      else {
        for (const old of parts.keys()) if (old.startsWith(key)) parts.delete(old)
        for (const [index, part] of partsOf(fieldsOf(event.item)).entries())
          add(`${key}${index}`, part.title, part.text)
      }
    } else if (event.choices !== undefined) addChatDelta(event, add)
    else addMessagesEvent(event, add)
  }
  return [...parts.values()].map(({ title, text }) => ({ title, text: readable(text) }))
}

type Add = (key: string, title: string, text: unknown) => void

function addMessagesEvent({ type, index, content_block: block, delta, error }: Fields, add: Add): void {
  const key = String(index)
  if (type === 'error') add('error', 'error', textOf(error))
  if (type === 'content_block_start') {
    const { title } = partOf(fieldsOf(block), 'assistant')
    add(key, title, fieldsOf(block).text)
  }
  if (type === 'content_block_delta') {
    const { text, thinking, partial_json: json } = fieldsOf(delta)
    add(key, 'assistant', text ?? thinking ?? json)
  }
}

/** Kinds of deltas of a Responses stream, as titles. */
const RESPONSE_DELTAS: Readonly<Record<string, string>> = {
  'response.output_text.delta': 'assistant',
  'response.refusal.delta': 'assistant',
  'response.reasoning_text.delta': 'thinking',
  'response.reasoning_summary_text.delta': 'thinking',
  'response.function_call_arguments.delta': 'call',
  'response.custom_tool_call_input.delta': 'call',
}

function addResponseDelta(event: Fields, add: Add): void {
  const { type, output_index: item, delta } = event
  const part = event.content_index ?? event.summary_index ?? 0
  const key = `${String(item)} ${String(part)}`
  const added = fieldsOf(event.item)
  if (type === 'response.output_item.added' && added.name !== undefined) add(key, `call of ${String(added.name)}`, '')
  const title = RESPONSE_DELTAS[String(type)]
  if (title !== undefined) add(key, title, delta)
  if (type === 'response.failed') add('error', 'error', textOf(fieldsOf(event.response).error))
}

function addChatDelta({ choices }: Fields, add: Add): void {
  for (const { index, delta } of listOf(choices)) {
    const { content, reasoning_content: reasoning, tool_calls: calls } = fieldsOf(delta)
    if (typeof reasoning === 'string') add(`${String(index)} thinking`, 'thinking', reasoning)
    if (typeof content === 'string' && content !== '') add(`${String(index)} text`, 'assistant', content)
    for (const call of listOf(calls)) {
      const { name, arguments: given } = fieldsOf(call.function)
      add(`${String(index)} call ${String(call.index)}`, `call of ${String(name)}`, given)
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? readable(value) : readable(JSON.stringify(value ?? null))
}

function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}
