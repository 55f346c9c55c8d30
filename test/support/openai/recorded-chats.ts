import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseEvents } from '../events.ts'
import { isJsonObject, type JsonObject, parseJson, valueAt } from '../json.ts'
import type { Found } from '../recordings.ts'
import type { ChatAnswerScript } from './script.ts'

/** A recorded exchange with OpenAI's chat completions. */
export interface RecordedChat {
  /** The file's name without `.json`, then `#` and the exchange's number. */
  name: string
  body: JsonObject
  status: number
  /** The completion or the error body; absent for a stream. */
  reply?: JsonObject
  /** The chunks of a stream, without those of a moderation, which no stand-in performs. */
  chunks?: readonly JsonObject[]
}

type Interaction = { request: JsonObject; response: JsonObject }

const PROJECT_ROOT = path.resolve(import.meta.dirname, '../../..')

/** Loads every recorded exchange with OpenAI, in the order of file names. Without the data folder `absent` explains it. */
export function loadChats(): Found<RecordedChat> {
  const folder = path.resolve(PROJECT_ROOT, process.env.TURNPIKE_DATA ?? '../shared/data', 'recordings')
  if (!existsSync(folder)) {
    return { items: [], absent: `no recordings in ${folder}: set TURNPIKE_DATA to the data folder` }
  }
  const names = readdirSync(folder).filter((name) => /^o\d.*\.json$/.test(name))
  const items = names.sort().flatMap((name) => {
    const content = parseJson(readFileSync(path.join(folder, name), 'utf8'))
    const interactions = (valueAt(content, 'interactions') ?? []) as Interaction[] // safe: see the data’s README
    return interactions.map((interaction, index) => toChat(`${path.basename(name, '.json')}#${index + 1}`, interaction))
  })
  return { items }
}

/** Returns the script that makes the stand-in send the recorded reply. */
export function toScript({ reply, chunks }: RecordedChat): ChatAnswerScript {
  const message = reply ? valueAt(reply, 'choices.0.message') : assemble(chunks ?? [])
  const text = valueAt(message, 'content')
  const calls = (valueAt(message, 'tool_calls') ?? []) as {
    id: string
    function: { name: string; arguments: string }
  }[] // safe: recorded
  const toolCalls = calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args }))
  return { kind: 'answer', ...(typeof text === 'string' && text !== '' ? { text } : {}), toolCalls }
}

function toChat(name: string, { request, response }: Interaction): RecordedChat {
  const exchange = { name, body: request.body as JsonObject, status: Number(response.status) } // safe: recorded bodies are objects
  if (typeof response.sse !== 'string') return { ...exchange, reply: response.body as JsonObject } // safe: the same
  const chunks = parseEvents(response.sse).flatMap(({ data }) => (isJsonObject(data) ? [data] : []))
  return { ...exchange, chunks: chunks.filter((chunk) => chunk.moderation === undefined) }
}

/** Assembles the text and calls of a stream; at most one call, as in the recordings. */
function assemble(chunks: readonly JsonObject[]): JsonObject {
  const deltas = chunks.map((chunk) => valueAt(chunk, 'choices.0.delta'))
  const join = (at: string) => deltas.map((delta) => valueAt(delta, at) ?? '').join('')
  const call = valueAt(
    deltas.find((delta) => valueAt(delta, 'tool_calls.0.id')),
    'tool_calls.0',
  )
  const tool = { name: valueAt(call, 'function.name'), arguments: join('tool_calls.0.function.arguments') }
  return { content: join('content'), tool_calls: call ? [{ id: valueAt(call, 'id'), function: tool }] : [] }
}
