import type { IncomingHttpHeaders } from 'node:http'
import { isJsonObject, type JsonObject, parseJson } from '../json.ts'
import type { ReceivedRequest } from '../provider/check-request.ts'
import { checkMessages, compatibleRules, openAIRules } from './check-messages.ts'
import { checkPairs } from './check-pairs.ts'
import { checkModelLimits, checkParameters, checkRanges, checkRequired } from './check-parameters.ts'
import { checkResponseFormat } from './check-response-format.ts'
import { checkToolChoice, checkTools } from './check-tools.ts'
import { checkModel } from './model.ts'
import { type ChatRejection, invalid, rejection } from './rejection.ts'
import type { Flavour } from './script.ts'

/** Rules of a server. */
export interface ChatRules {
  /** Default `openai`: refuses as OpenAI does. `compatible` ignores unknown members. */
  flavour?: Flavour
  /** The only Bearer key accepted. Default: any that is not empty. */
  apiKey?: string
  /** The models that exist. Default: on OpenAI every name without a `/`, else every name. */
  models?: readonly string[]
}

/** A route the stand-in answers. */
export type ChatRoute = { kind: 'chat' } | { kind: 'models' } | { kind: 'model'; id: string }

const JSON_TYPE = /^application\/json\s*(;|$)/i
const MODEL_PATH = /^\/v1\/models\/(.+)$/

/** Returns the route of a request; `undefined` when the server has none for this method and path. */
export function routeOf({ method, url }: Pick<ReceivedRequest, 'method' | 'url'>): ChatRoute | undefined {
  const [path = ''] = url.split('?')
  if (method === 'POST') return path === '/v1/chat/completions' ? { kind: 'chat' } : undefined
  if (method !== 'GET') return undefined
  if (path === '/v1/models') return { kind: 'models' }
  const id = MODEL_PATH.exec(path)?.[1]
  return id === undefined ? undefined : { kind: 'model', id: decodeURIComponent(id) }
}

/** Returns the first rule of the server that a request breaks; `undefined` for a valid request. */
export function checkRequest(request: ReceivedRequest, rules: ChatRules): ChatRejection | undefined {
  const { flavour = 'openai', models } = rules
  const route = routeOf(request)
  if (!route) return rejection(404, `Invalid URL (${request.method} ${request.url.split('?')[0]})`)
  const refused = checkCredential(request.headers, rules)
  if (refused) return refused
  if (route.kind === 'model') return checkModel(route.id, flavour, models)
  if (route.kind === 'models') return undefined
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    return invalid('Invalid Content-Type header: expected application/json.')
  }
  const json = parseJson(request.raw.toString())
  if (!isJsonObject(json)) return invalid('We could not parse the JSON body of your request.')
  return (flavour === 'openai' ? checkOpenAI(json) : checkCompatible(json)) ?? checkModel(json.model, flavour, models)
}

function checkOpenAI(body: JsonObject): ChatRejection | undefined {
  return (
    checkRequired(body) ??
    checkParameters(body) ??
    checkRanges(body) ??
    checkModelLimits(body) ??
    checkMessages(body.messages, openAIRules) ??
    checkPairs(body.messages) ??
    checkTools(body) ??
    checkToolChoice(body) ??
    checkResponseFormat(body)
  )
}

function checkCompatible(body: JsonObject): ChatRejection | undefined {
  return (
    checkRequired(body) ??
    checkRanges(body) ??
    checkMessages(body.messages, compatibleRules) ??
    checkPairs(body.messages) ??
    checkToolChoice(body)
  )
}

function checkCredential({ authorization }: IncomingHttpHeaders, { apiKey }: ChatRules): ChatRejection | undefined {
  const key = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]
  if (key === undefined) {
    return rejection(401, "You didn't provide an API key. Provide it in an Authorization header using Bearer auth.")
  }
  if (apiKey === undefined || key === apiKey) return undefined
  return rejection(401, `Incorrect API key provided: ${key.slice(0, 3)}***.`, { code: 'invalid_api_key' })
}
