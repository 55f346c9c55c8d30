import { isJsonObject, type JsonObject, parseJson, valueAt } from '../json.ts'
import type { ReceivedRequest } from '../provider/check-request.ts'
import { checkContents } from './check-contents.ts'
import { checkFields } from './check-fields.ts'
import { checkSettings, generationOf } from './check-settings.ts'
import { bodies } from './fields.ts'
import { type GeminiRejection, invalid, rejection } from './rejection.ts'

/** Rules of the stand-in beyond its fixed ones. */
export interface GeminiRules {
  /** The only `x-goog-api-key` accepted. Default: any that is not empty. */
  apiKey?: string
  /** The models that exist. Default: every name that begins with `gemini-`; the list has three. */
  models?: readonly string[]
}

/** Route of a request. */
export type GeminiRoute =
  | { kind: 'generate' | 'stream' | 'count-tokens' | 'model'; model: string }
  | { kind: 'models'; model: '' }

const POST_PATH = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/
const GET_PATH = /^\/v1beta\/models(?:\/([^/:]+))?$/
const KINDS: Readonly<Record<string, 'generate' | 'stream' | 'count-tokens'>> = {
  generateContent: 'generate',
  streamGenerateContent: 'stream',
  countTokens: 'count-tokens',
}
const MAX_PAGE = 1000

/** Returns the route of a request; `undefined` when there is none for this method and path. */
export function routeOf({ method, url }: Pick<ReceivedRequest, 'method' | 'url'>): GeminiRoute | undefined {
  const { pathname } = new URL(url, 'http://gemini')
  const [, model = '', verb = ''] = (method === 'POST' && POST_PATH.exec(pathname)) || []
  const kind = KINDS[verb]
  if (kind !== undefined) return { kind, model: decodeURIComponent(model) }
  const found = method === 'GET' ? GET_PATH.exec(pathname) : null
  if (found === null) return undefined
  return found[1] === undefined ? { kind: 'models', model: '' } : { kind: 'model', model: found[1] }
}

/** Returns the first rule that a request breaks; `undefined` for a valid one. */
export function checkRequest(request: ReceivedRequest, rules: GeminiRules): GeminiRejection | undefined {
  const route = routeOf(request)
  if (route === undefined) return rejection(404, 'Requested entity was not found.')
  return checkKey(request, rules) ?? checkModel(route, rules) ?? checkRoute(request, route)
}

function checkKey({ headers }: ReceivedRequest, { apiKey }: GeminiRules): GeminiRejection | undefined {
  const key = headers['x-goog-api-key']
  if (!key) {
    return rejection(
      403,
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    )
  }
  if (apiKey === undefined || key === apiKey) return undefined
  return rejection(400, 'API key not valid. Please pass a valid API key.', 'API_KEY_INVALID')
}

function checkModel({ kind, model }: GeminiRoute, { models }: GeminiRules): GeminiRejection | undefined {
  if (kind === 'models' || (models ? models.includes(model) : model.startsWith('gemini-'))) return undefined
  return rejection(404, `models/${model} is not found for API version v1beta, or is not supported for generateContent.`)
}

function checkRoute(request: ReceivedRequest, route: GeminiRoute): GeminiRejection | undefined {
  const query = new URL(request.url, 'http://gemini').searchParams
  if (route.kind === 'model') return undefined
  if (route.kind === 'models') {
    const size = Number(query.get('pageSize') ?? 1)
    return Number.isInteger(size) && size >= 1 && size <= MAX_PAGE ? undefined : invalid('page_size is out of range')
  }
  if (route.kind === 'stream' && query.get('alt') !== 'sse') {
    return invalid('this stand-in streams with alt=sse only')
  }
  const body = parseJson(request.raw.toString())
  if (!isJsonObject(body)) return invalid('Invalid JSON payload received. Unexpected token.')
  return checkBody(body, route)
}

/** Returns the first rule that a body breaks; also for tests of translations without a server. */
export function checkBody(body: JsonObject, { kind, model }: GeminiRoute): GeminiRejection | undefined {
  if (kind !== 'count-tokens') return checkFields(body, bodies.generate) ?? checkPrompt(body, model)
  const inner = body.generateContentRequest
  const refused = checkFields(body, bodies['count-tokens'])
  if (refused || inner === undefined) return refused ?? checkContents(body.contents, generationOf(model))
  if (body.contents !== undefined) return invalid('contents and generate_content_request are mutually exclusive.')
  if (valueAt(inner, 'model') !== `models/${model}`) {
    return invalid('* CountTokensRequest.generate_content_request.model: must be the model of the address')
  }
  return checkPrompt(inner as JsonObject, model) // safe: checkFields has seen an object
}

function checkPrompt(body: JsonObject, model: string): GeminiRejection | undefined {
  return checkSettings(body, model) ?? checkContents(body.contents, generationOf(model))
}
