import { z } from 'zod'
import { isJsonObject, type JsonObject, parseJson } from '../json.ts'
import { type ChatRejection, invalid, rejection } from '../openai/rejection.ts'
import type { ReceivedRequest } from '../provider/check-request.ts'

/** Rules of the stand-in. */
export interface ResponsesRules {
  /** The only Bearer key accepted. Default: any that is not empty. */
  apiKey?: string
}

const text = z.string()
const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input_text'), text }),
  z.strictObject({
    type: z.literal('output_text'),
    text,
    annotations: z.array(z.unknown()).optional(),
    logprobs: z.array(z.unknown()).optional(),
  }),
  z.strictObject({ type: z.literal('refusal'), refusal: text }),
  z.strictObject({
    type: z.literal('input_image'),
    image_url: z.string().regex(/^(https?:|data:image\/)/),
    detail: z.enum(['auto', 'low', 'high', 'original']).optional(),
  }),
  z.strictObject({
    type: z.literal('input_file'),
    filename: text.optional(),
    file_data: z.string().startsWith('data:').optional(),
    file_url: z.url().optional(),
  }),
])
const id = z.string().max(64).optional()
const status = z.enum(['in_progress', 'completed', 'incomplete']).optional()
const callId = z.string().min(1).max(64)
const name = z.string().regex(/^[\w-]{1,64}$/)
const output = z.union([text, z.array(part)])
const item = z.union([
  z.strictObject({
    type: z.literal('message').optional(),
    id,
    status,
    phase: text.nullish(),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.union([text, z.array(part)]),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    id,
    status,
    call_id: callId,
    name,
    namespace: text.optional(),
    arguments: text,
  }),
  z.strictObject({ type: z.literal('function_call_output'), id, status, call_id: callId, output }),
  z.strictObject({
    type: z.literal('custom_tool_call'),
    id,
    status,
    call_id: callId,
    name,
    namespace: text.optional(),
    input: text,
  }),
  z.strictObject({ type: z.literal('custom_tool_call_output'), id, status, call_id: callId, output }),
  z.strictObject({
    type: z.literal('reasoning'),
    id,
    status,
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text })),
    content: z.unknown().optional(),
    encrypted_content: text.nullish(),
  }),
  z.strictObject({ type: z.literal('compaction'), id, encrypted_content: text }),
  z.strictObject({ type: z.literal('compaction_trigger') }),
])
const functionTool = z.strictObject({
  type: z.literal('function'),
  name,
  description: text.nullish(),
  parameters: z.looseObject({}).nullish(),
  strict: z.boolean().nullish(),
})
const customTool = z.strictObject({
  type: z.literal('custom'),
  name,
  description: text.optional(),
  format: z.looseObject({}).optional(),
})
const tool = z.discriminatedUnion('type', [
  functionTool,
  customTool,
  z.strictObject({
    type: z.literal('namespace'),
    name,
    description: text.optional(),
    tools: z.array(z.union([functionTool, customTool])),
  }),
  z.looseObject({ type: z.literal('web_search') }),
])
const format = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    name,
    schema: z.looseObject({}),
    strict: z.boolean().nullish(),
    description: text.optional(),
  }),
])

/** A request, as OpenAI's API reference describes it; it refuses what it does not know. */
const body = z.strictObject({
  model: text,
  input: z.union([text, z.array(item).min(1)]),
  instructions: text.nullish(),
  tools: z.array(tool).optional(),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: text })]).optional(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  reasoning: z.strictObject({ effort: text.nullish(), summary: text.nullish() }).nullish(),
  include: z.array(z.enum(['reasoning.encrypted_content', 'message.output_text.logprobs'])).nullish(),
  text: z
    .strictObject({ format: format.optional(), verbosity: z.enum(['low', 'medium', 'high']).optional() })
    .optional(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  previous_response_id: text.nullish(),
  conversation: text.nullish(),
  background: z.boolean().nullish(),
  safety_identifier: text.nullish(),
  prompt_cache_key: text.nullish(),
  prompt_cache_options: z
    .strictObject({ mode: z.enum(['implicit', 'explicit']).optional(), ttl: text.optional() })
    .optional(),
  client_metadata: z.record(text, text).nullish(),
  metadata: z.record(text, text).nullish(),
  user: text.nullish(),
})

/** Path of the reply that replaces a conversation. */
export const COMPACT_PATH = '/v1/responses/compact'
const PATHS = new Set<string | undefined>(['/v1/responses', COMPACT_PATH])
/** Types of items that only the server which has encrypted them can read. */
const ENCRYPTED = new Set<unknown>(['reasoning', 'compaction'])

/** A member that Codex adds to every item for a provider of OpenAI's name. */
const OF_CODEX = /,"internal_chat_message_metadata_passthrough":\{[^{}]*\}/g

/** Returns the first rule that a request breaks; `undefined` for a valid one. */
export function checkRequest(
  { method, url, headers, raw }: ReceivedRequest,
  { apiKey }: ResponsesRules,
): ChatRejection | undefined {
  if (method !== 'POST' || !PATHS.has(url.split('?')[0])) return rejection(404, `Invalid URL (${method} ${url})`)
  const key = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  if (key === undefined || (apiKey !== undefined && key !== apiKey))
    return rejection(401, 'Incorrect API key provided.')
  const json = parseJson(raw.toString().replaceAll(OF_CODEX, ''))
  if (!isJsonObject(json)) return invalid('We could not parse the JSON body of your request.')
  const checked = body.safeParse(json)
  const [issue] = checked.success ? [] : checked.error.issues
  if (issue !== undefined)
    return invalid(`${issue.path.join('.')}: ${issue.message} ${JSON.stringify(issue)}`, {
      param: issue.path.join('.'),
    })
  return checkItems(Array.isArray(json.input) ? json.input : [])
}

/** Checks that calls and results belong together, and that reasoning is this server's own, with its id. */
function checkItems(items: readonly JsonObject[]): ChatRejection | undefined {
  const ofType = (pattern: RegExp) =>
    items.filter(({ type }) => pattern.test(String(type))).map(({ call_id }) => call_id)
  const calls = ofType(/_call$/)
  const results = ofType(/_output$/)
  const orphan = results.find((result) => !calls.includes(result))
  if (orphan !== undefined) return invalid(`No tool call found for function call output with call_id ${orphan}.`)
  const open = calls.find((call) => !results.includes(call))
  if (open !== undefined) return invalid(`No tool output found for function call ${open}.`)
  const foreign = items.find(
    ({ type, id, encrypted_content: sealed }) => ENCRYPTED.has(type) && sealed && sealed !== sealOf(id),
  )
  return foreign && invalid(`The encrypted content for item ${foreign.id} could not be verified.`)
}

/** Returns the encrypted content of the reasoning item with this id. */
export function sealOf(id: unknown): string {
  return `sealed-${id}`
}
