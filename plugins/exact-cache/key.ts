import { createHash, hash } from 'node:crypto'
import type { Exchange, RequestDocument } from 'turnpike/plugin'

/** Whose answers a caller may be given. */
export type CacheScope = 'key' | 'user' | 'shared'

/** Fields that do not change the answer; the model counts as the provider sees it, in the target. */
const NOT_IN_KEY = new Set(['stream', 'metadata', 'model'])
/** Of a dialect that is not the canonical one, `stream` counts: its replies are not turned from one kind into the other. */
const NOT_IN_OTHERS_KEY = new Set(['model'])
const NOTHING = Buffer.alloc(0)
const TWIN_PREFIX = 'provider-'

const FIELDS_DIGEST = Symbol('exact-cache fields')
const OTHER_FIELDS_DIGEST = Symbol('exact-cache fields of another dialect')

/**
 * The key of an exchange: SHA-256 over everything that can change the answer, each part preceded by its length.
 * The request's fields go in as raw bytes in the order of their names, so that `1.0` and `1` stay apart.
 */
export function cacheKey(exchange: Exchange, scope: CacheScope): string {
  const { target, query } = exchange
  let text = ''
  const add = (part: string) => {
    text += `${part.length}:${part}`
  }
  add(scopeId(exchange, scope))
  add(target.provider)
  add(target.model)
  add(query)
  add(downstreamOf(exchange))
  add(requestDigest(exchange))
  for (const [name, value] of tellingHeaders(exchange)) {
    add(name)
    add(value)
  }
  // Not UTF-8: names with different lone surrogates would become one.
  return hash('sha256', Buffer.from(text, 'utf16le'), 'base64url')
}

/**
 * What is asked. In another dialect a request may hold what the canonical shape has no place for, so all that the client
 * sent counts, and beside it what modules have made of it.
 */
function requestDigest(exchange: Exchange): string {
  const { client, dialect, isEdited } = exchange
  if (dialect.name === 'messages') return exchange.request.fact(FIELDS_DIGEST, digestFields)
  const sent = client.document.fact(OTHER_FIELDS_DIGEST, digestAllFields)
  const edited = isEdited ? exchange.request.fact(FIELDS_DIGEST, digestFields) : ''
  return `${dialect.name} ${sent} ${edited}`
}

/** Bodies up to this size are put together here and hashed at once: a hash object costs more than hashing them. */
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024)
const MOST_BYTES_OF_LENGTHS = 32

function digestOf(leftOut: ReadonlySet<string>): (request: RequestDocument) => string {
  return (request) => {
    const { shape, bytes } = request
    const names = [...shape.fields.keys()].filter((name) => !leftOut.has(name)).sort()
    const mostBytes = 3 * bytes.length + names.length * MOST_BYTES_OF_LENGTHS
    return mostBytes <= SCRATCH.length ? digestAtOnce(request, names) : digestPiecewise(request, names)
  }
}

const digestFields = digestOf(NOT_IN_KEY)
const digestAllFields = digestOf(NOT_IN_OTHERS_KEY)

function digestAtOnce(request: RequestDocument, names: readonly string[]): string {
  let end = 0
  for (const name of names) {
    const value = request.raw(name) ?? NOTHING
    end += SCRATCH.write(`${name.length}:${value.length}:`, end, 'latin1')
    end += SCRATCH.write(name, end, 'utf16le')
    end += value.copy(SCRATCH, end)
  }
  return hash('sha256', SCRATCH.subarray(0, end), 'base64url')
}

function digestPiecewise(request: RequestDocument, names: readonly string[]): string {
  const sha256 = createHash('sha256')
  for (const name of names) {
    const value = request.raw(name) ?? NOTHING
    sha256.update(`${name.length}:${value.length}:`)
    sha256.update(Buffer.from(name, 'utf16le'))
    sha256.update(value)
  }
  return sha256.digest('base64url')
}

function scopeId({ caller }: Exchange, scope: CacheScope): string {
  if (scope === 'shared') return 'shared'
  if (scope === 'user' && caller.userId !== undefined) return `user:${caller.userId}`
  return `key:${caller.scope}`
}

/** The modules between the cache and the provider, as the pipeline names them: they may change request and answer. */
function downstreamOf({ pipeline }: Exchange): string {
  const steps = pipeline.split(',')
  return steps.slice(steps.findIndex((step) => step.split('?')[0] === 'exact-cache') + 1).join(',')
}

/**
 * Version and beta headers under either of their names, whatever else the provider's own headers may mean, and what the
 * caller asks of other modules: of the modules behind the cache that counts, and nobody can tell which those are.
 */
function tellingHeaders({ headers }: Exchange): [string, string][] {
  let values: Map<string, string> | undefined
  for (const name in headers) {
    const isTwin = name.startsWith(TWIN_PREFIX)
    if (!isTwin && !name.startsWith('anthropic-') && !isWish(name)) continue
    const value = headers[name]
    const canonical = isTwin ? `anthropic-${name.slice(TWIN_PREFIX.length)}` : name
    values ??= new Map()
    if (value !== undefined && (!isTwin || !values.has(canonical))) values.set(canonical, String(value))
  }
  return values === undefined ? [] : [...values].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The pipeline itself counts as it was resolved. */
function isWish(name: string): boolean {
  return name.startsWith('x-svc-') && name !== 'x-svc-pipe'
}
