import type { IncomingHttpHeaders } from 'node:http'
import { isJsonObject, parseJson } from '../json.ts'
import { checkBody } from './check-body.ts'
import { checkConversation } from './check-conversation.ts'
import { invalid, type Rejection, rejection } from './rejection.ts'

/** Rules of a provider beyond its fixed ones. */
export interface RequestRules {
  /** The only `x-api-key` accepted. Default: any that is not empty. */
  apiKey?: string
  /** Accepts `Authorization: Bearer` with the key as well. Default: `x-api-key` only. */
  acceptBearer?: boolean
  /** Refuses a missing or unknown `anthropic-version`. Default off: the gateway injects none. */
  strictVersion?: boolean
  /** Largest body in bytes. Default 32 MB, the provider's own limit. */
  maxBodyBytes?: number
  /** The models that exist. Default: every name without a `/`. */
  models?: readonly string[]
}

/** The parts of a request that are checked. */
export interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  raw: Buffer
}

const routes = {
  'POST /v1/messages': 'messages',
  'POST /v1/messages/count_tokens': 'count-tokens',
  'GET /v1/models': 'models',
} as const

/** The routes the stand-in answers. */
export type Route = (typeof routes)[keyof typeof routes]

const DEFAULT_MAX_BODY_BYTES = 32 * 1024 * 1024
const KNOWN_VERSIONS = new Set(['2023-01-01', '2023-06-01', '2026-10-21'])
const JSON_TYPE = /^application\/json\s*(;|$)/i

/** Returns the route of a request; `undefined` when the provider has none for this method and path. */
export function routeOf({ method, url }: Pick<ReceivedRequest, 'method' | 'url'>): Route | undefined {
  const key = `${method} ${url.split('?')[0]}`
  return Object.hasOwn(routes, key) ? routes[key as keyof typeof routes] : undefined // safe: an own key of `routes`
}

/** Returns the first rule of the provider that a request breaks; `undefined` for a valid request. */
export function checkRequest(request: ReceivedRequest, rules: RequestRules): Rejection | undefined {
  const route = routeOf(request)
  if (!route) return rejection(404, 'Not found')
  const refused = checkCredential(request.headers, rules) ?? checkVersion(request.headers, rules)
  if (refused) return refused
  return route === 'models' ? checkLimit(request.url) : checkPost(request, route, rules)
}

function checkCredential(headers: IncomingHttpHeaders, rules: RequestRules): Rejection | undefined {
  const bearer = rules.acceptBearer ? /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] : undefined
  const key = headers['x-api-key'] ?? bearer
  if (!key) return rejection(401, 'x-api-key header is required')
  if (rules.apiKey !== undefined && key !== rules.apiKey) return rejection(401, 'invalid x-api-key')
  return undefined
}

function checkVersion(headers: IncomingHttpHeaders, rules: RequestRules): Rejection | undefined {
  if (!rules.strictVersion) return undefined
  const version = headers['anthropic-version']
  if (version === undefined) return invalid('anthropic-version: header is required')
  if (!KNOWN_VERSIONS.has(String(version))) return invalid(`anthropic-version: "${version}" is not a valid version`)
  return undefined
}

function checkLimit(url: string): Rejection | undefined {
  const limit = new URL(url, 'http://provider').searchParams.get('limit')
  if (limit === null) return undefined
  const count = Number(limit)
  if (!Number.isInteger(count) || count < 1 || count > 1000) return invalid('limit: must be between 1 and 1000')
  return undefined
}

function checkPost(request: ReceivedRequest, route: Route, rules: RequestRules): Rejection | undefined {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) return invalid('content-type: must be application/json')
  if (request.raw.length > (rules.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES)) {
    return rejection(413, 'Request exceeds the maximum size')
  }
  const json = parseJson(request.raw.toString())
  if (json === undefined) return invalid('The request body is not valid JSON')
  if (!isJsonObject(json)) return invalid('Input should be a valid dictionary')
  return checkBody(json, route) ?? checkConversation(json.messages) ?? checkModel(json.model, rules)
}

function checkModel(model: unknown, { models }: RequestRules): Rejection | undefined {
  const exists = models ? models.includes(String(model)) : !String(model).includes('/')
  return exists ? undefined : rejection(404, `model: ${model}`)
}
