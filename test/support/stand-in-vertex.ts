import { type CloudServer, type ModelCall, startCloud } from './cloud.ts'
import { checkBody } from './provider/check-body.ts'
import { checkConversation } from './provider/check-conversation.ts'
import type { SeenRequest } from './provider/journal.ts'
import { type Payload, type PayloadScript, toPayload } from './provider/payload.ts'
import { type Rejection, rejection } from './provider/rejection.ts'

/*
 * DESIGN. A stand-in for Vertex AI with Claude models: Google's errors in front of the model, Anthropic's from it.
 *
 * Limits: any model name exists that is not `missing`; one project, one location.
 */

/** Accepted credentials and location. */
export interface VertexRules {
  token: string
  project: string
  location: string
}

const VERSION = 'vertex-2023-10-16'
const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
}

/** Starts a strict stand-in for Vertex AI on a free loopback port. */
export function startVertex(rules: VertexRules): Promise<CloudServer> {
  return startCloud({
    understand: (request) => understand(request, rules),
    payload: toVertexPayload,
    refuse: ({ status, message }) => googleError(status, message),
  })
}

function understand(request: SeenRequest, rules: VertexRules): ModelCall | { refused: Rejection } {
  const refused = checkCaller(request, rules)
  if (refused) return { refused }
  const models = `/v1/projects/${rules.project}/locations/${rules.location}/publishers/anthropic/models/`
  const rest = request.url.startsWith(models) ? request.url.slice(models.length) : ''
  const [, model = '', method = ''] = /^([\w.@-]+):(rawPredict|streamRawPredict)$/.exec(rest) ?? []
  if (request.method !== 'POST' || model === '' || model === 'missing')
    return { refused: rejection(404, `Publisher Model \`${request.url}\` was not found.`) }
  const action = model === 'count-tokens' ? 'count' : method === 'streamRawPredict' ? 'stream' : 'json'
  const body = request.json ?? {}
  const invalid = checkPrediction(body, action)
  if (invalid) return { refused: invalid }
  return { model: action === 'count' ? String(body.model) : model, action, body: { ...body, model } }
}

function checkCaller({ headers }: SeenRequest, { token }: VertexRules): Rejection | undefined {
  if (headers.authorization !== `Bearer ${token}`)
    return rejection(401, 'Request had invalid authentication credentials. Expected OAuth 2 access token.')
  const foreign = Object.keys(headers).filter((name) => /^(?:anthropic-version|provider-|x-api-key)/.test(name))
  if (foreign.length > 0) return rejection(400, `Unexpected headers: ${foreign.join(', ')}`)
  return headers['content-type'] === 'application/json' ? undefined : rejection(415, 'Unexpected content type')
}

function checkPrediction(body: Record<string, unknown>, action: ModelCall['action']): Rejection | undefined {
  if (body.anthropic_version !== VERSION) return rejection(400, `anthropic_version: got ${body.anthropic_version}`)
  if (action !== 'count' && body.model !== undefined) return rejection(400, 'model: Extra inputs are not permitted')
  if (action !== 'count' && (body.stream === true) !== (action === 'stream'))
    return rejection(400, 'stream: does not fit the method')
  const route = action === 'count' ? 'count-tokens' : 'messages'
  return checkBody({ model: 'from the path', ...body }, route) ?? checkConversation(body.messages)
}

function toVertexPayload(script: PayloadScript, { action, body, nth }: ModelCall & { nth: number }): Payload {
  if (script.kind === 'error') {
    const payload = googleError(script.status, script.message ?? 'Scripted error')
    return { ...payload, headers: { ...payload.headers, ...script.headers } }
  }
  const route = action === 'count' ? 'count-tokens' : 'messages'
  return toPayload(script, { body, nth, route, url: '', requestId: `req_vrtx_${nth}` })
}

/** Makes the platform's own error. */
function googleError(status: number, message: string): Payload {
  const error = { code: status, message, status: STATUS_NAMES[status] ?? 'UNKNOWN' }
  return {
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: Buffer.from(JSON.stringify([{ error }])),
  }
}
