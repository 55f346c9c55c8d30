import { FIELD_NAMES, MEMBER_NAMES } from '../../src/core/json/known-names.ts'

/*
 * A second reader of JSON, slow and plain, which keeps the parts that JSON.parse drops: members of one name, each. The scan
 * is compared with it.
 */

/** A JSON value with all members of its objects. */
type Value = string | number | boolean | null | Value[] | Members

class Members {
  readonly list: [name: string, value: Value][] = []
}

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:])/y

/** Reads valid JSON. */
function read(text: string): Value {
  TOKEN.lastIndex = 0
  const next = (): string => TOKEN.exec(text)?.[1] ?? ''
  const valueFrom = (token: string): Value => {
    if (token === '[') return elements()
    if (token === '{') return members()
    return JSON.parse(token)
  }
  const elements = (): Value[] => {
    const list: Value[] = []
    for (let token = next(); token !== ']'; token = next()) if (token !== ',') list.push(valueFrom(token))
    return list
  }
  const members = (): Members => {
    const object = new Members()
    for (let token = next(); token !== '}'; token = next()) {
      if (token === ',') continue
      next() // the colon
      object.list.push([JSON.parse(token), valueFrom(next())])
    }
    return object
  }
  return valueFrom(next())
}

const DATA = new Set(['input', 'input_schema', 'input_examples', 'parameters', 'schema', 'arguments'])
const FREE = new Set(['metadata', 'logit_bias'])

/** Returns why two readers could understand a valid JSON request differently; `undefined`: they could not. */
export function ambiguityOf(text: string): string | undefined {
  const body = read(text)
  if (!(body instanceof Members)) return 'no object'
  return (
    repeated(body) ??
    first(body.list, ([name]) => otherCase(name, FIELD_NAMES)) ??
    first(body.list, ([name, value]) => inside(value, FREE.has(name) || !FIELD_NAMES.has(name)))
  )
}

function inside(value: Value, isFree: boolean): string | undefined {
  if (typeof value === 'number') return isFree || Number.isFinite(value) ? undefined : 'an infinite number'
  if (Array.isArray(value)) return first(value, (each) => inside(each, isFree))
  if (!(value instanceof Members)) return undefined
  return (
    repeated(value) ??
    first(value.list, ([name]) => (isFree ? undefined : otherCase(name, MEMBER_NAMES))) ??
    first(value.list, ([name, member]) =>
      DATA.has(name) ? undefined : inside(member, isFree || !MEMBER_NAMES.has(name)),
    )
  )
}

function repeated({ list }: Members): string | undefined {
  return new Set(list.map(([name]) => name)).size < list.length ? 'a duplicate' : undefined
}

/** Finds a known name by code points, as a reader without case would. */
function otherCase(name: string, known: ReadonlySet<string>): string | undefined {
  const folded = Array.from(name, (character) => character.toUpperCase().toLowerCase()).join('')
  return !known.has(name) && known.has(folded) ? `${name} in another case` : undefined
}

function first<Each>(list: readonly Each[], find: (each: Each) => string | undefined): string | undefined {
  for (const each of list) {
    const found = find(each)
    if (found !== undefined) return found
  }
  return undefined
}
