/**
 * DESIGN — when two requests may share an answer
 *
 * Only if nothing that can change it differs: who asks, whom, at whose account, with which headers, through which
 * modules, and what. Each part goes into one SHA-256, preceded by its length. What is asked is digested by the caller, who knows which fields count.
 */
import { createHash, hash } from 'node:crypto'
import type { Exchange } from './exchange.ts'
import type { RequestDocument } from './request.ts'
import { betaTextOf, versionOf } from './version-headers.ts'

/** Whose answers a caller may be given. */
export type SharingScope = 'key' | 'user' | 'shared'

/** What the identity is made of besides the exchange. */
export interface IdentityParts {
  readonly scope: SharingScope
  /** The module that asks: those behind it count. */
  readonly module: string
  /** A digest of what is asked. */
  readonly asked: string
}

/** The members of an exchange of which its identity is made. */
type Identified = Pick<Exchange, 'caller' | 'callerParts' | 'headers' | 'pipeline' | 'query' | 'target'>

/** The identity of an exchange, 43 characters: equal only where everything that can change the answer is. */
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
/** Counted by what they ask for together, not by name. */
const VERSIONED = new Set(['anthropic-version', 'provider-version', 'anthropic-beta', 'provider-beta'])
/** Of providers' own headers: versions, betas, accounts. */
const TELLING_PREFIX = /^(?:anthropic|openai)-/

/** Bodies up to this size are put together here and hashed at once: a hash object costs more than hashing them. */
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024)
const MOST_BYTES_OF_LENGTHS = 32

/**
 * Makes a function that digests the fields of a request but those left out: their raw bytes in the order of their names,
 * so that `1.0` and `1` stay apart.
 */
export function createFieldsDigest(leftOut: ReadonlySet<string>): (request: RequestDocument) => string {
  return (request) => {
    const { shape, bytes } = request
    const names = [...shape.fields.keys()].filter((name) => !leftOut.has(name)).sort()
    const mostBytes = 3 * bytes.length + names.length * MOST_BYTES_OF_LENGTHS
    return mostBytes <= SCRATCH.length ? digestAtOnce(request, names) : digestPiecewise(request, names)
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
  for (const name of names) {
    const value = request.raw(name) ?? NOTHING
    sha256.update(`${name.length}:${value.length}:`)
    sha256.update(Buffer.from(name, 'utf16le'))
    sha256.update(value)
  }
  return sha256.digest('base64url')
}

function scopeId({ caller }: Identified, scope: SharingScope): string {
  if (scope === 'shared') return 'shared'
  if (scope === 'user' && caller.userId !== undefined) return `user:${caller.userId}`
  return `key:${caller.scope}`
}

/** The modules between this one and the provider, as the pipeline names them: they may change request and answer. */
function downstreamOf({ pipeline }: Identified, module: string): string {
  const steps = pipeline.split(',')
  return steps.slice(steps.findIndex((step) => step.split('?')[0] === module) + 1).join(',')
}

/**
 * The version and betas that are asked for, whatever else the providers' own headers may mean (an organisation or project
 * that pays, say), and what the caller asks of other modules: of the modules behind this one that counts, and nobody can
 * tell which those are.
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

/** The pipeline itself counts as it was resolved. */
function isWish(name: string): boolean {
  return name.startsWith('x-svc-') && name !== 'x-svc-pipe'
}
