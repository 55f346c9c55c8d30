/**
 * DESIGN: the response object around the output.
 *
 * It repeats the request's fields, with their defaults, and null where a field is unset: clients read them without a check
 * (Open Responses, "Response"). It is in three events of every stream, so the repeated fields are printed once a request.
 * Limits: a response in progress repeats at most 256 KB; when the fields are larger, each above 8 KB has its default there, so
 * that a stream repeats large instructions and tools once, at its end.
 * `store` is true where the gateway stores the response.
 */
import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { RequestDocument } from '../../../core/request/request.ts'

/** The members of a response that its reply decides. */
export interface ResponseState {
  readonly id: string
  readonly model: string
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly completedAt: number | null
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly error: JsonObject | null
  readonly incompleteReason: string | undefined
  readonly output: readonly JsonObject[]
  readonly usage: JsonObject | null
  readonly isStored: boolean
}

const REPEATED = Symbol('repeated fields of a response')
const BRIEF = Symbol('repeated fields of a response in progress')
const MOST_CHARACTERS_IN_PROGRESS = 256 * 1024
/** Bytes of one of the 19 fields that are read from the request, so that all are within the limit. */
const MOST_BYTES_OF_FIELD = 8 * 1024

/** Prints a response as JSON. */
export function printResponse(request: RequestDocument, state: ResponseState): string {
  const { incompleteReason } = state
  const own = {
    id: state.id,
    object: 'response',
    created_at: state.createdAt,
    status: state.status,
    completed_at: state.completedAt,
    error: state.error,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    model: state.model,
    output: state.output,
    usage: state.usage,
    store: state.isStored,
  }
  const repeated = state.status === 'in_progress' ? request.memo(BRIEF, printBrief) : wholeOf(request)
  return `${JSON.stringify(own).slice(0, -1)},${repeated}}`
}

function wholeOf(request: RequestDocument): string {
  return request.memo(REPEATED, () => printRepeated((name) => request.field(name)))
}

function printBrief(request: RequestDocument): string {
  const whole = wholeOf(request)
  if (whole.length <= MOST_CHARACTERS_IN_PROGRESS) return whole
  return printRepeated((name) => {
    const size = request.raw(name)?.length ?? 0
    return size > MOST_BYTES_OF_FIELD ? undefined : request.field(name)
  })
}

/** Prints the fields that repeat the request, without braces; `field` reads one of it. */
function printRepeated(field: (name: string) => unknown): string {
  const given = (name: string): unknown => field(name) ?? null
  const tools = field('tools')
  const fields = {
    background: false,
    instructions: given('instructions'),
    max_output_tokens: given('max_output_tokens'),
    max_tool_calls: given('max_tool_calls'),
    parallel_tool_calls: given('parallel_tool_calls') ?? true,
    previous_response_id: given('previous_response_id'),
    prompt_cache_key: given('prompt_cache_key'),
    reasoning: { effort: null, summary: null, ...objectOf(field('reasoning')) },
    safety_identifier: given('safety_identifier'),
    service_tier: 'default',
    temperature: given('temperature') ?? 1,
    text: { format: { type: 'text' }, ...objectOf(field('text')) },
    tool_choice: given('tool_choice') ?? 'auto',
    tools: Array.isArray(tools) ? tools.map(withDefaults) : [],
    top_logprobs: given('top_logprobs') ?? 0,
    top_p: given('top_p') ?? 1,
    presence_penalty: given('presence_penalty') ?? 0,
    frequency_penalty: given('frequency_penalty') ?? 0,
    truncation: given('truncation') ?? 'disabled',
    user: given('user'),
    metadata: given('metadata') ?? {},
  }
  return JSON.stringify(fields).slice(1, -1)
}

/** Returns a tool with the members that every function has in a response. */
function withDefaults(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool
  return { description: null, parameters: null, strict: true, ...tool }
}

/** Returns the set members of an object; none of any other value. */
function objectOf(value: unknown): JsonObject {
  if (!isObject(value)) return {}
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}
