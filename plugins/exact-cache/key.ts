import { createHash, hash } from 'node:crypto'
import type { Exchange, RequestDocument } from 'turnpike/plugin'

/** Whose answers a caller may be given. */
export type CacheScope = 'key' | 'user' | 'shared'

/** Fields that do not change the answer; the model counts as the provider sees it, in the target. */
const NOT_IN_KEY = new Set(['stream', 'metadata', 'model'])
const NOTHING = Buffer.alloc(0)

/** Digests of the fields by what the scan found: a body that comes again brings the same findings. */
const digests = new WeakMap<RequestDocument['shape'], string>()

/**
 * The key of an exchange: SHA-256 over everything that can change the answer, each part preceded by its length.
 * The request's fields go in as raw bytes in the order of their names, so that `1.0` and `1` stay apart.
 */
export function cacheKey(exchange: Exchange, scope: CacheScope): string {
  const { target, request, query } = exchange
  let text = ''
  const add = (part: string) => {
    text += `${part.length}:${part}`
  }
  add(scopeId(exchange, scope))
  add(target.provider)
  add(target.model)
  add(query)
  add(downstreamOf(exchange))
  add(fieldsDigest(request))
  for (const [name, value] of versionHeaders(exchange)) {
    add(name)
    add(value)
  }
  // Not UTF-8: names with different lone surrogates would become one.
  return hash('sha256', Buffer.from(text, 'utf16le'), 'base64url')
}

function fieldsDigest(request: RequestDocument): string {
  const { shape } = request
  const known = digests.get(shape)
  if (known !== undefined) return known
  const sha256 = createHash('sha256')
  const names = [...shape.fields.keys()].filter((name) => !NOT_IN_KEY.has(name)).sort()
  for (const name of names) {
    const value = request.raw(name) ?? NOTHING
    sha256.update(`${name.length}:${value.length}:`)
    sha256.update(Buffer.from(name, 'utf16le'))
    sha256.update(value)
  }
  const digest = sha256.digest('base64url')
  digests.set(shape, digest)
  return digest
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

/** Version and beta headers under either of their names, and whatever else the provider's own headers may mean. */
function versionHeaders({ headers }: Exchange): [string, string][] {
  const values = new Map<string, string>()
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || !(name.startsWith('anthropic-') || name.startsWith('provider-'))) continue
    const canonical = name.replace(/^provider-/, 'anthropic-')
    if (!values.has(canonical) || name === canonical) values.set(canonical, String(value))
  }
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1))
}
