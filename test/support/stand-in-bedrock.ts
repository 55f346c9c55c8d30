import { framesOf } from './bedrock/frames.ts'
import { checkSignature, type SignatureRules } from './bedrock/signature.ts'
import { type CloudServer, type ModelCall, startCloud } from './cloud.ts'
import { isJsonObject, type JsonObject, parseJson, valueAt } from './json.ts'
import { checkBody } from './provider/check-body.ts'
import { checkConversation } from './provider/check-conversation.ts'
import type { SeenRequest } from './provider/journal.ts'
import { type Payload, type PayloadScript, toPayload } from './provider/payload.ts'
import { type Rejection, rejection } from './provider/rejection.ts'
import type { ErrorScript } from './provider/script.ts'

/*
 * DESIGN. A stand-in for the Amazon Bedrock runtime with Claude models: it verifies signatures by itself, refuses fields
 * that an invocation must not have, and frames streams as the service does. An `error` script becomes the service's error.
 *
 * Limits: it knows three actions; any model name exists that is not `missing`; no guardrails, no latency settings.
 */

/** Accepted credentials. */
export type BedrockRules = { apiKey: string } | Omit<SignatureRules, 'service'>

type Refusal = Rejection & { name?: string }

const PATH = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream|count-tokens)$/
const ACTIONS: Readonly<Record<string, ModelCall['action']>> = {
  invoke: 'json',
  'invoke-with-response-stream': 'stream',
  'count-tokens': 'count',
}
const VERSION = 'bedrock-2023-05-31'
const ERROR_NAMES: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

/** Starts a strict stand-in for the Bedrock runtime on a free loopback port. `basePath` precedes every path. */
export function startBedrock(rules: BedrockRules, basePath = ''): Promise<CloudServer> {
  return startCloud({
    understand: (request) => understand(request, rules, basePath),
    payload: toBedrockPayload,
    refuse: ({ status, message, name }) => errorPayload(status, message, name),
  })
}

function understand(request: SeenRequest, rules: BedrockRules, basePath: string): ModelCall | { refused: Refusal } {
  const refused = checkCaller(request, rules) ?? checkHeaders(request)
  if (refused) return { refused }
  const path = request.url.startsWith(basePath) ? request.url.slice(basePath.length) : ''
  const [, id = '', name = ''] = PATH.exec(path) ?? []
  const action = ACTIONS[name]
  if (request.method !== 'POST' || action === undefined) return { refused: rejection(404, 'Not found') }
  const model = decodeURIComponent(id)
  const invocation = action === 'count' ? unwrap(request.json) : request.json
  if (invocation === undefined)
    return { refused: rejection(400, 'Malformed input request, please reformat your input') }
  const invalid = checkInvocation(invocation, model, action)
  return invalid ? { refused: invalid } : { model, action, body: { ...invocation, model, stream: action === 'stream' } }
}

function checkCaller(request: SeenRequest, rules: BedrockRules): Refusal | undefined {
  if ('apiKey' in rules) {
    if (request.headers.authorization === `Bearer ${rules.apiKey}`) return undefined
    return { ...rejection(403, 'Authentication failed: Please make sure your API Key is valid.') }
  }
  const fault = checkSignature(request, { ...rules, service: 'bedrock' })
  return fault && { ...rejection(403, fault.message), name: fault.name }
}

/** Refuses headers that the service ignores or does not know, which are mistakes here. */
function checkHeaders({ headers }: SeenRequest): Refusal | undefined {
  const foreign = Object.keys(headers).filter((name) => /^(?:anthropic-|provider-|x-api-key|x-stainless-)/.test(name))
  if (foreign.length > 0) return rejection(400, `Unexpected headers: ${foreign.join(', ')}`)
  const type = headers['content-type']
  return type === 'application/json' ? undefined : rejection(415, `Unexpected content type: ${type}`)
}

/** Returns the invocation inside a token count. */
function unwrap(body: JsonObject | undefined): JsonObject | undefined {
  const encoded = valueAt(body, 'input.invokeModel.body')
  const json = typeof encoded === 'string' ? parseJson(Buffer.from(encoded, 'base64').toString()) : undefined
  return isJsonObject(json) ? json : undefined
}

function checkInvocation(body: JsonObject, model: string, action: ModelCall['action']): Refusal | undefined {
  if (model === 'missing') return rejection(404, 'Could not resolve the foundation model from the provided identifier.')
  if (action === 'count' && !model.startsWith('anthropic.'))
    return rejection(400, "The provided model doesn't support counting tokens.")
  const extraneous = ['model', 'stream'].find((name) => body[name] !== undefined)
  if (extraneous) return rejection(400, `${extraneous}: Extra inputs are not permitted`)
  if (body.anthropic_version !== VERSION) return rejection(400, `Invalid API version: ${body.anthropic_version}`)
  const betas = body.anthropic_beta ?? []
  if (!Array.isArray(betas) || betas.some((beta) => /^claude-code-|^unknown-/.test(String(beta))))
    return rejection(400, 'invalid beta flag')
  return checkBody({ ...body, model }, 'messages') ?? checkConversation(body.messages)
}

function toBedrockPayload(script: PayloadScript, { action, body, nth }: ModelCall & { nth: number }): Payload {
  if (script.kind === 'error') return scriptedError(script)
  const route = action === 'count' ? 'count-tokens' : 'messages'
  const payload = toPayload(script, { body, nth, route, url: '', requestId: '' })
  if (script.kind === 'answer' && action === 'count') return counted(payload)
  if (!payload.headers['content-type']?.startsWith('text/event-stream')) return payload
  const headers = {
    'content-type': 'application/vnd.amazon.eventstream',
    'x-amzn-bedrock-content-type': 'application/json',
  }
  return { ...payload, headers, body: Buffer.concat(framesOf(payload.body)) }
}

function scriptedError({ status, message = 'Scripted error', type, headers }: ErrorScript): Payload {
  const payload = errorPayload(status, message, type)
  return { ...payload, headers: { ...payload.headers, ...headers } }
}

function counted(payload: Payload): Payload {
  const { input_tokens: inputTokens } = JSON.parse(payload.body.toString())
  return { ...payload, body: Buffer.from(JSON.stringify({ inputTokens })) }
}

function errorPayload(status: number, message: string, name = ERROR_NAMES[status] ?? 'UnknownException'): Payload {
  const headers = {
    'content-type': 'application/json',
    'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  }
  return { status, headers, body: Buffer.from(JSON.stringify({ message })) }
}
