import type { JsonObject } from '../json.ts'
import type { ChatAnswerScript } from '../openai/script.ts'
import { toWords } from '../openai/tokens.ts'
import { sealOf } from './check-request.ts'

/** Circumstances of an answer. */
export interface AnswerContext {
  readonly body: JsonObject
  readonly nth: number
}

const CREATED_AT = 1_700_000_000

/** Builds the response to a request. */
export function toResponse({ body, nth }: AnswerContext, script: ChatAnswerScript): JsonObject {
  const { text, reasoning, toolCalls = [], finishReason, usage } = script
  const includes = Array.isArray(body.include) && body.include.includes('reasoning.encrypted_content')
  const said =
    text ?? (toolCalls.length === 0 ? `You sent ${JSON.stringify(body.input).length} characters.` : undefined)
  const thought = { id: `rs_${nth}`, type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning }] }
  const output: JsonObject[] = isCompacting(body)
    ? [compactionOf(nth)]
    : [
        ...(reasoning === undefined
          ? []
          : [{ ...thought, ...(includes && { encrypted_content: sealOf(`rs_${nth}`) }) }]),
        ...(said === undefined ? [] : [messageOf(`msg_${nth}`, said)]),
        ...toolCalls.map(({ name, arguments: json, id }, index) => ({
          id: `fc_${nth}_${index}`,
          type: 'function_call',
          status: 'completed',
          call_id: id ?? `call_${nth}_${index}`,
          name,
          arguments: json,
        })),
      ]
  const input_tokens = toWords(JSON.stringify(body.input)).length
  const output_tokens = output.reduce((sum, item) => sum + toWords(JSON.stringify(item)).length, 0)
  const counts = { input_tokens, output_tokens, ...usage }
  return {
    id: `resp_${nth}`,
    object: 'response',
    created_at: CREATED_AT,
    status: finishReason === 'length' ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: finishReason === 'length' ? { reason: 'max_output_tokens' } : null,
    model: body.model,
    output,
    usage: {
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
      ...counts,
      total_tokens: counts.input_tokens + counts.output_tokens,
    },
    ...REPEATED,
  }
}

/** Returns true for a request that ends in the trigger of a compaction. */
function isCompacting({ input }: JsonObject): boolean {
  return Array.isArray(input) && input.at(-1)?.type === 'compaction_trigger'
}

/** Returns the item that replaces a conversation. */
function compactionOf(nth: number): JsonObject {
  return { id: `cmp_${nth}`, type: 'compaction', encrypted_content: sealOf(`cmp_${nth}`) }
}

/** Builds the reply of `/responses/compact`. */
export function toWindow({ body, nth }: AnswerContext): JsonObject {
  const input_tokens = toWords(JSON.stringify(body.input)).length
  const usage = {
    input_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + 1,
  }
  return {
    id: `resp_${nth}`,
    object: 'response.compaction',
    created_at: CREATED_AT,
    output: [compactionOf(nth)],
    usage,
  }
}

const REPEATED = {
  background: false,
  completed_at: CREATED_AT,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  truncation: 'disabled',
  user: null,
  metadata: {},
}

function messageOf(id: string, text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return { id, type: 'message', status: 'completed', role: 'assistant', content }
}

/** Prints the stream of a response; calls come in turns where they are interleaved. */
export function toSse(response: JsonObject, interleaved: boolean): Buffer {
  const events: JsonObject[] = []
  const begun = { ...response, status: 'in_progress', output: [], usage: null, incomplete_details: null }
  events.push({ type: 'response.created', response: begun }, { type: 'response.in_progress', response: begun })
  const items = response.output as JsonObject[] // safe: built above
  const streams = items.map((item, output_index) => eventsOf(item, output_index))
  const isCall = ({ type }: JsonObject) => type === 'function_call'
  for (const [index, stream] of streams.entries())
    if (!interleaved || !isCall(items[index] ?? {})) events.push(...stream)
  if (interleaved) events.push(...inTurns(streams.filter((_, index) => isCall(items[index] ?? {}))))
  events.push({ type: `response.${response.status}`, response })
  const print = (event: JsonObject, sequence_number: number) =>
    `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`
  return Buffer.from(events.map(print).join(''))
}

function inTurns(streams: readonly (readonly JsonObject[])[]): JsonObject[] {
  const longest = Math.max(0, ...streams.map(({ length }) => length))
  return Array.from({ length: longest }, (_, turn) => turn).flatMap((turn) =>
    streams.flatMap((stream) => stream.slice(turn, turn + 1)),
  )
}

function eventsOf(item: JsonObject, output_index: number): JsonObject[] {
  const at = { item_id: item.id, output_index }
  const added = (members: JsonObject) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...members },
  })
  const done = { type: 'response.output_item.done', output_index, item }
  if (item.type === 'function_call') {
    const json = String(item.arguments)
    const half = Math.ceil(json.length / 2)
    const deltas = [json.slice(0, half), json.slice(half)].filter((piece) => piece !== '')
    return [
      added({ arguments: '', status: 'in_progress' }),
      ...deltas.map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
      { type: 'response.function_call_arguments.done', ...at, arguments: json },
      done,
    ]
  }
  if (item.type === 'compaction') return [added({}), done]
  const isThought = item.type === 'reasoning'
  const name = isThought ? 'reasoning_summary_text' : 'output_text'
  const [part] = (isThought ? item.summary : item.content) as JsonObject[] // safe: built above
  const where = { ...at, ...(isThought ? { summary_index: 0 } : { content_index: 0 }) }
  const partName = isThought ? 'reasoning_summary_part' : 'content_part'
  return [
    added(isThought ? { summary: [] } : { content: [], status: 'in_progress' }),
    { type: `response.${partName}.added`, ...where, part: { ...part, text: '' } },
    ...toWords(String(part?.text)).map((delta) => ({ type: `response.${name}.delta`, ...where, delta })),
    { type: `response.${name}.done`, ...where, text: part?.text },
    { type: `response.${partName}.done`, ...where, part },
    done,
  ]
}
