import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { parseJson } from '../../../src/core/json/parse-json.ts'
import { children, ScanError } from '../../../src/core/json/scan.ts'
import { applyEdits, type Edit } from '../../../src/core/json/splice.ts'
import { jsonObjects, jsonTexts } from '../../support/request-bodies.ts'
import { attempt, createPicker, type Fuzzer, isSameJson, promise } from '../fuzzer.ts'
import { JSON_WORDS } from './json-scan.ts'

const VALUES: readonly unknown[] = [null, 0, 'new', '"', '\u2028', [], {}, [1, { a: [] }], { ['__proto__']: 1, b: 'é' }]
const NAMES = ['a', '0', '10', '-', '', 'x/y~z', '__proto__', 'constructor', 'toString', 'é']
const MOST_EDITS = 4

/**
 * Edits of JSON: the output parses to what the same edits make of the parsed value, one after another; children of the
 * root that no edit touches keep their bytes; a batch that cannot be carried out throws and changes nothing.
 */
export const jsonSplice: Fuzzer = {
  name: 'json-splice',
  seeds: fc.oneof(jsonTexts, jsonObjects).map((text) => Buffer.from(text).toString('latin1')),
  words: JSON_WORDS,
  mostMutations: 1,
  outcomes: ['edited', 'refused', 'not JSON'],
  run({ text, salt }) {
    const bytes = Buffer.from(text, 'latin1')
    const value = attempt(() => parseJson(bytes.toString()))
    if ('error' in value || !isUtf8(bytes)) return 'not JSON'
    const before = Buffer.from(bytes)
    const edits = editsOf(value.value, salt)
    const spliced = attempt(() => applyEdits(bytes, edits))
    promise(bytes.equals(before), 'the original is left alone')
    const expected = attempt(() => applyToValue(value.value, edits))
    if ('error' in spliced) {
      promise(spliced.error instanceof Error && spliced.error.name.match(/^(Scan)?Error$/) !== null, `${spliced.error}`)
      const isAmbiguous = spliced.error instanceof ScanError || /occurs twice|deeper/.test(spliced.error.message)
      promise('error' in expected || isAmbiguous, `refused what can be done: ${spliced.error.message}`)
      return 'refused'
    }
    promise(!('error' in expected), `did what cannot be done: ${JSON.stringify(edits)}`)
    const result = parseJson(spliced.value.toString())
    promise(
      isSameJson(result, expected.value),
      `${JSON.stringify(edits)} gave ${spliced.value}, not ${JSON.stringify(expected.value)}`,
    )
    assertUntouched(bytes, spliced.value, edits)
    return 'edited'
  },
}

/** Edits at different places below the root, most of which are there. */
function editsOf(root: unknown, salt: number): Edit[] {
  const pick = createPicker(salt)
  const edits: Edit[] = []
  for (let count = 1 + pick(MOST_EDITS); count > 0; count--) {
    const path = pathIn(root, pick)
    const op = (['replace', 'add', 'remove'] as const)[pick(3)] ?? 'remove'
    edits.push(op === 'remove' ? { op, path } : { op, path, value: VALUES[pick(VALUES.length)] })
  }
  return edits
}

function pathIn(root: unknown, pick: (below: number) => number): (string | number)[] {
  const path: (string | number)[] = []
  let node = root
  do {
    const names = typeof node === 'object' && node !== null ? Object.keys(node) : []
    const isWild = names.length === 0 || pick(6) === 0
    const name = isWild ? (NAMES[pick(NAMES.length)] ?? '') : (names[pick(names.length)] ?? '')
    path.push(Array.isArray(node) && /^\d+$/.test(name) ? Number(name) : name)
    node = Object.hasOwn(Object(node), name) ? (node as Record<string, unknown>)[name] : undefined
  } while (typeof node === 'object' && node !== null && pick(3) > 0)
  return path
}

/** Meaning of the batch: every path is of the original, so that removals leave holes until the end. */
function applyToValue(root: unknown, edits: readonly Edit[]): unknown {
  const marks = new Map<string, Edit>()
  const inserted = new Map<string, unknown[]>()
  const document = structuredClone(root)
  for (const edit of edits) {
    const holder = holderOf(document, edit.path)
    const name = String(edit.path.at(-1))
    const pointer = JSON.stringify(edit.path.map(String))
    const isList = Array.isArray(holder)
    const isThere = isList ? /^(0|[1-9]\d*)$/.test(name) && Number(name) < holder.length : Object.hasOwn(holder, name)
    if (isList && edit.op === 'add') {
      const index = name === '-' ? holder.length : /^(0|[1-9]\d*)$/.test(name) ? Number(name) : Number.NaN
      if (!(index <= holder.length)) throw new Error('no such place')
      const place = JSON.stringify([...edit.path.slice(0, -1).map(String), String(index)])
      inserted.set(place, [...(inserted.get(place) ?? []), edit.value])
      continue
    }
    if (!isThere && edit.op !== 'add') throw new Error('nothing there')
    if (marks.has(pointer)) throw new Error('twice')
    marks.set(pointer, edit)
  }
  for (const { path } of edits)
    for (let depth = 1; depth < path.length; depth++)
      if (marks.has(JSON.stringify(path.slice(0, depth).map(String)))) throw new Error('overlap')
  return rebuilt(document, [], { marks, inserted })
}

function holderOf(root: unknown, path: readonly (string | number)[]): object {
  let node = root
  for (const step of path.slice(0, -1)) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, step)) throw new Error('no way')
    if (Array.isArray(node) && !/^(0|[1-9]\d*)$/.test(String(step))) throw new Error('no index')
    node = (node as Record<string | number, unknown>)[step]
  }
  if (typeof node !== 'object' || node === null) throw new Error('no container')
  return node
}

interface Changes {
  readonly marks: ReadonlyMap<string, Edit>
  readonly inserted: ReadonlyMap<string, readonly unknown[]>
}

function rebuilt(node: unknown, path: readonly string[], changes: Changes): unknown {
  if (typeof node !== 'object' || node === null) return node
  const { marks, inserted } = changes
  const at = (name: string) => JSON.stringify([...path, name])
  const valuesOf = (name: string, value: unknown) => {
    const mark = marks.get(at(name))
    if (mark === undefined) return [rebuilt(value, [...path, name], changes)]
    return mark.op === 'remove' ? [] : [mark.value]
  }
  if (Array.isArray(node)) {
    const list = node.flatMap((value, i) => [...(inserted.get(at(String(i))) ?? []), ...valuesOf(String(i), value)])
    return [...list, ...(inserted.get(at(String(node.length))) ?? [])]
  }
  const entries = Object.entries(node).flatMap(([name, value]) => valuesOf(name, value).map((each) => [name, each]))
  const added = [...marks].flatMap(([pointer, edit]) => {
    const steps = JSON.parse(pointer) as string[]
    const isHere = edit.op === 'add' && JSON.stringify(steps.slice(0, -1)) === JSON.stringify(path)
    return isHere && !Object.hasOwn(node, steps.at(-1) ?? '') ? [[steps.at(-1), edit.value]] : []
  })
  return Object.fromEntries([...entries, ...added])
}

/** Children of an object that no path goes through are there as they were, in the order in which they were. */
function assertUntouched(before: Buffer, after: Buffer, edits: readonly Edit[]): void {
  const text = before.toString('latin1')
  const start = text.search(/[^ \t\r\n]/)
  if (text[start] !== '{') return
  const touched = new Set(edits.map(({ path }) => String(path[0])))
  let from = 0
  for (const child of children(text, start)) {
    if (touched.has(child.key ?? '')) continue
    from = after.indexOf(before.subarray(child.start, child.end), from)
    promise(from >= 0, `the bytes of ${child.key} are as they were`)
  }
}
