/**
 * DESIGN: the names of a request's tools in the Messages shape.
 *
 * A namespace groups tools, and a custom tool takes free text; the Messages shape has neither. A tool of a namespace gets
 * the name `namespace__tool`, a custom tool one parameter, `input`. The reply's calls are translated back by this table,
 * which follows from the request alone: no state is kept between the two.
 * Guarantees: each tool has a name of its own, with letters, digits, `_` and `-` alone, and at most 64 characters, as chat
 * completions require. A name that is another tool's, has other characters or is longer ends in a digest.
 */
import { hash } from 'node:crypto'
import { readJson } from '../../core/json/json-error.ts'
import { isObject, type JsonObject } from '../../core/json/json-value.ts'
import type { RequestDocument } from '../../core/request/request.ts'

/** The identity of a tool in the client's request. */
export interface NamedTool {
  readonly kind: 'function' | 'custom'
  readonly name: string
  readonly namespace: string | undefined
}

/** Tools by their names in the Messages shape; functions that keep their name are left out. */
export type ToolNames = ReadonlyMap<string, NamedTool>

const LONGEST_NAME = 64
const DIGEST_CHARACTERS = 8
const VALID = /^[\w-]{1,64}$/
const FOREIGN = /[^\w-]/g
const SEPARATOR = '__'
const TOOL_NAMES = Symbol('names of responses tools')
const ADDITIONAL = 'additional_tools'

/** Returns the name of a tool in the Messages shape as it is without a table: a plain name stays. */
export function flatNameOf(name: string, namespace: unknown): string {
  const space = spaceOf(namespace)
  return space === undefined ? name : freeName(joined(name, space), identityOf(name, space))
}

/** Returns the names of a request's tools, computed once for the same bytes. */
export function toolNamesOf(document: RequestDocument): ToolNames {
  return document.memo(TOOL_NAMES, () => readJson(document.bytes, () => namesIn(document).tools))
}

function namesIn(document: RequestDocument): FlatNames {
  const input = document.bytes.includes(ADDITIONAL) ? document.field('input') : undefined
  return new FlatNames({ tools: document.field('tools'), input })
}

/** The names of a request's tools, there and back. */
export class FlatNames {
  readonly #tools = new Map<string, NamedTool>()
  readonly #flat = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** Reads the tools of a body, and those among its items. Tools without a namespace keep their names first. */
  constructor({ tools, input }: JsonObject) {
    const items = objectsIn(input).filter(({ type }) => type === ADDITIONAL)
    const all = [...objectsIn(tools), ...items.flatMap((item) => objectsIn(item.tools))]
    for (const tool of all) if (tool.type !== 'namespace') this.#add(tool, undefined)
    for (const space of all) {
      if (space.type !== 'namespace' || typeof space.name !== 'string') continue
      for (const tool of objectsIn(space.tools)) this.#add(tool, spaceOf(space.name))
    }
  }

  /** Tools by their flat names. */
  get tools(): ToolNames {
    return this.#tools
  }

  /** Returns a tool's flat name, also for one that the request does not offer. */
  of(name: string, namespace: unknown): string {
    const identity = identityOf(name, spaceOf(namespace))
    return this.#flat.get(identity) ?? freeName(joined(name, spaceOf(namespace)), identity)
  }

  #add({ type, name }: JsonObject, namespace: string | undefined): void {
    if (typeof name !== 'string' || (type !== 'function' && type !== 'custom')) return
    const identity = identityOf(name, namespace)
    const known = this.#flat.get(identity)
    const flat = known ?? this.#untaken(joined(name, namespace), identity)
    this.#flat.set(identity, flat)
    this.#taken.add(flat)
    if (type === 'custom' || flat !== name) this.#tools.set(flat, { kind: type, name, namespace })
  }

  #untaken(text: string, identity: string): string {
    let flat = freeName(text, identity)
    for (let nth = 1; this.#taken.has(flat); nth++) flat = withDigest(text, `${identity} ${nth}`)
    return flat
  }
}

function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

function spaceOf(namespace: unknown): string | undefined {
  return typeof namespace === 'string' && namespace !== '' ? namespace : undefined
}

function identityOf(name: string, namespace: string | undefined): string {
  return namespace === undefined ? JSON.stringify(name) : JSON.stringify([namespace, name])
}

function joined(name: string, namespace: string | undefined): string {
  if (namespace === undefined) return name
  return namespace.endsWith(SEPARATOR) ? namespace + name : namespace + SEPARATOR + name
}

/** Returns the text where it is a valid name, otherwise one that ends in a digest of the tool's identity. */
function freeName(text: string, identity: string): string {
  return VALID.test(text) ? text : withDigest(text, identity)
}

function withDigest(text: string, identity: string): string {
  const digest = hash('sha256', identity, 'hex').slice(0, DIGEST_CHARACTERS)
  return `${text.slice(0, LONGEST_NAME - DIGEST_CHARACTERS - 1).replace(FOREIGN, '_')}_${digest}`
}
