import type Router from '@koa/router'
import type { Middleware } from 'koa'
import { GatewayError } from '../core/errors.ts'
import type { RequestState } from './request-context.ts'

/** Hints for paths of APIs that the gateway does not have. */
const OTHER_APIS: Readonly<Record<string, string>> = {
  '/v1/completions': 'Use chat completions: `/v1/chat/completions`.',
  '/v1/complete': 'Use Messages: `/v1/messages`.',
  '/v1/embeddings': 'Embeddings are not offered here.',
}

/**
 * Throws `not_found` for a path without a route. The message suggests the route when the path differs only in its base
 * URL or slashes, such as one `/v1` too many or too few.
 */
export function notFound(router: Pick<Router<RequestState>, 'match'>): Middleware<RequestState> {
  return function notFound(ctx, next) {
    const { method, path } = ctx
    if (router.match(path, method).path.length > 0) return next()
    throw new GatewayError('not_found', `There is nothing at ${method} ${path}.${hint(path, method, router)}`)
  }
}

function hint(path: string, method: string, router: Pick<Router<RequestState>, 'match'>): string {
  const meant = likelyPath(path)
  const other = OTHER_APIS[meant]
  if (other !== undefined) return ` ${other}`
  if (meant === path || !router.match(meant, method).route) return ''
  const base = meant.startsWith('/v1/') ? ` ${baseAdvice(path)}` : ''
  return ` Did you mean \`${meant}\`?${base}`
}

/** Returns the path from its last `/v1`, or with one in front; single slashes, none at the end. */
function likelyPath(path: string): string {
  const plain = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const at = plain.toLowerCase().lastIndexOf('/v1/')
  if (at >= 0) return `/v1${plain.slice(at + 3)}`
  return OF_VERSION.test(plain) ? `/v1${plain}` : plain
}

const OF_VERSION =
  /^\/(?:messages|chat\/completions|models|receipts|ledger|responses|completions|complete|embeddings|keys|billing|agent)(?:\/|$)/

/** Returns the change to make in the client's base URL. */
function baseAdvice(path: string): string {
  const lower = path.toLowerCase()
  if (lower.indexOf('/v1/') !== lower.lastIndexOf('/v1/'))
    return 'The client adds `/v1` itself: leave it out of the base URL.'
  if (!lower.includes('/v1')) return 'Put `/v1` at the end of the client’s base URL.'
  return 'Check the base URL of the client for slashes and further parts.'
}
