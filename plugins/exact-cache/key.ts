import { createHash, type Hash } from 'node:crypto'
import type { Exchange } from 'turnpike/plugin'

/** Whose answers a caller may be given. */
export type CacheScope = 'key' | 'user' | 'shared'

/** Fields that do not change the answer; the model counts as the provider sees it, in the target. */
const NOT_IN_KEY = new Set(['stream', 'metadata', 'model'])

/**
 * The key of an exchange: SHA-256 over everything that can change the answer, each part preceded by its length.
 * The request's fields go in as raw bytes in the order of their names, so that `1.0` and `1` stay apart.
 */
export function cacheKey(exchange: Exchange, scope: CacheScope): string {
  const hash = createHash('sha256')
  const { target, request, query } = exchange
  const parts = [scopeId(exchange, scope), target.provider, target.model, query, downstreamOf(exchange)]
  for (const part of parts) addText(hash, part)
  for (const [name, value] of versionHeaders(exchange)) {
    addText(hash, name)
    addText(hash, value)
  }
  // Ends the list of headers: no header has an empty name.
  addText(hash, '')
  const names = [...request.shape.fields.keys()].filter((name) => !NOT_IN_KEY.has(name)).sort()
  for (const name of names) {
    addText(hash, name)
    addBytes(hash, request.raw(name) ?? Buffer.alloc(0))
  }
  return hash.digest('base64url')
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

function addText(hash: Hash, text: string): void {
  // Not UTF-8: names with different lone surrogates would become one.
  addBytes(hash, Buffer.from(text, 'utf16le'))
}

function addBytes(hash: Hash, bytes: Buffer): void {
  hash.update(`${bytes.length}:`)
  hash.update(bytes)
}
