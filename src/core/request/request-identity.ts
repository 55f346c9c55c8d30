/**
 * DESIGN — decides when two requests may share a reply
 *
 * Only if nothing that can change it differs: caller, target, account, headers, plugins and body. Each part goes into one
 * SHA-256, preceded by its length. The calling plugin digests the body, since it knows which fields count.
 */
import { createHash, hash, randomBytes } from 'node:crypto'
import { LargeDigest } from '../large-digest.ts'
import type { Exchange } from './exchange.ts'
import type { RequestDocument } from './request.ts'
import { TAG_HEADER } from './tags.ts'
import { betaTextOf, versionOf } from './version-headers.ts'

/** The callers whose stored replies a caller may receive. */
export type SharingScope = 'key' | 'user' | 'shared'

/** Parts of the identity besides the exchange. */
export interface IdentityParts {
  readonly scope: SharingScope
  /** The calling plugin: those after it count. */
  readonly module: string
  /** A digest of the requested fields. */
  readonly asked: string
}

/** The members of an exchange that its identity is made of. */
type Identified = Pick<Exchange, 'caller' | 'callerParts' | 'headers' | 'pipeline' | 'query' | 'target'>

/** Returns the identity of an exchange, 43 characters: equal only if everything that can change the reply is. */
export function requestIdentity(exchange: Identified, { scope, module, asked }: IdentityParts): string {
  const { target, query } = exchange
  let text = ''
  const add = (part: string) => {
    text += `${part.length}:${part}`
  }
  add(scopeId(exchange, scope))
  add(target.provider)
  add(target.model)
  add(query)
  add(exchange.callerParts)
  add(downstreamOf(exchange, module))
  add(asked)
  for (const [name, value] of tellingHeaders(exchange)) {
    add(name)
    add(value)
  }
  // Not UTF-8: names with different lone surrogates would become one.
  return hash('sha256', Buffer.from(text, 'utf16le'), 'base64url')
}

const NOTHING = Buffer.alloc(0)
const TWIN_PREFIX = 'provider-'
/** Counted by their joined values, not by name. */
const VERSIONED = new Set(['anthropic-version', 'provider-version', 'anthropic-beta', 'provider-beta'])
/** Providers' own headers: versions, betas, accounts. */
const TELLING_PREFIX = /^(?:anthropic|openai)-/

/** Bodies up to a third of this are put together here and hashed at once: a hash object costs more than hashing them. */
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024)
const MOST_BYTES_OF_LENGTHS = 32
const KEY_BYTES = 32
/** Makes the digests of large bodies, which no other process can compare. */
const processKey = randomBytes(KEY_BYTES)

/** Processes in which a digest is the same: with one process, that of a large body takes a sixth of the time. */
export type DigestReach = 'process' | 'everywhere'

/**
 * Creates a function that digests the fields of a request except those left out: their raw bytes in the order of their names,
 * so that `1.0` and `1` differ.
 */
export function createFieldsDigest(
  leftOut: ReadonlySet<string>,
  reach: DigestReach = 'everywhere',
): (request: RequestDocument) => string {
  return (request) => {
    const { shape, bytes } = request
    const names = [...shape.fields.keys()].filter((name) => !leftOut.has(name)).sort()
    const mostBytes = 3 * bytes.length + names.length * MOST_BYTES_OF_LENGTHS
    if (mostBytes <= SCRATCH.length) return digestAtOnce(request, names)
    return reach === 'process' ? digestHere(request, names) : digestPiecewise(request, names)
  }
}

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
  for (const piece of piecesOf(request, names)) sha256.update(piece)
  return sha256.digest('base64url')
}

function digestHere(request: RequestDocument, names: readonly string[]): string {
  const digest = new LargeDigest(processKey)
  for (const piece of piecesOf(request, names)) digest.add(piece)
  return digest.end()
}

function* piecesOf(request: RequestDocument, names: readonly string[]): Generator<Buffer> {
  for (const name of names) {
    const value = request.raw(name) ?? NOTHING
    yield Buffer.from(`${name.length}:${value.length}:`)
    yield Buffer.from(name, 'utf16le')
    yield value
  }
}

function scopeId({ caller }: Identified, scope: SharingScope): string {
  if (scope === 'shared') return 'shared'
  if (scope === 'user' && caller.userId !== undefined) return `user:${caller.userId}`
  return `key:${caller.scope}`
}

/** The last result by plugin: most requests have the same pipeline. */
const lastDownstream = new Map<string, { readonly pipeline: string; readonly downstream: string }>()

/** Returns the plugins between this one and the provider, in the pipeline's names: they may change request and reply. */
function downstreamOf({ pipeline }: Identified, module: string): string {
  const last = lastDownstream.get(module)
  if (last?.pipeline === pipeline) return last.downstream
  const steps = pipeline.split(',')
  const downstream = steps.slice(steps.findIndex((step) => step.split('?')[0] === module) + 1).join(',')
  lastDownstream.set(module, { pipeline, downstream })
  return downstream
}

/**
 * Returns the requested version and betas, whatever other meaning the providers' own headers have (an organisation or
 * project that pays, say), and the caller's options for other plugins: those after this one count, and it is not known
 * which read them.
 */
function tellingHeaders({ headers }: Identified): [string, string][] {
  const values: [string, string][] = []
  for (const name in headers) {
    if (!name.startsWith(TWIN_PREFIX) && !TELLING_PREFIX.test(name) && !isWish(name)) continue
    const value = headers[name]
    if (value !== undefined && !VERSIONED.has(name)) values.push([name, String(value)])
  }
  const version = versionOf(headers)
  const betas = betaTextOf(headers)
  if (version !== undefined) values.push(['version', version])
  if (betas !== undefined) values.push(['beta', betas])
  return values.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Returns whether a header is an option for plugins. The pipeline itself counts as resolved; tags change no reply. */
function isWish(name: string): boolean {
  return name.startsWith('x-svc-') && name !== 'x-svc-pipe' && name !== TAG_HEADER
}
