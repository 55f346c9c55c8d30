/**
 * DESIGN: edits of a JSON document that leave every other byte alone.
 *
 * Purpose: a plugin changes `messages[7]`, and the provider must get everything else as the client wrote it: a document
 * that is parsed and printed again loses 1.0, 2^53+1, the order of integer-like keys, and with them signatures and the
 * provider's prompt cache.
 *
 * A batch is applied at once: every path refers to the original document, so edits do not shift each other.
 *
 *     {"a": [1, 2, 3], "b": 4}      remove /a/0, remove /a/1, add /a/- 9, replace /b 5
 *     {"a": [3,9], "b": 5}          three patches: `1, 2, ` is removed, `,9` follows `3`, `5` replaces `4`
 *
 * Guarantees: the operations mean what RFC 6902 defines; a batch that contradicts itself or misses its target changes nothing
 * and throws; the time is that of one scan per container on the way, plus one copy.
 * Limits: a Buffer as a value is taken for raw JSON and not checked.
 */
import { type Child, children } from './scan.ts'
import { skipSpace, skipValue } from './scan-value.ts'
import { type ContainerChanges, type Patch, patchesOf } from './splice-container.ts'

/** Member names and element indexes from the root of the document to a value. `'-'` is after an array's last element. */
export type Path = readonly (string | number)[]

/**
 * A change of the original document, as in RFC 6902: `add` inserts before an element or sets a member,
 * `replace` and `remove` need a value to be there. Several `add` before one element keep the order they are given in.
 * A value is printed by JSON.stringify; a Buffer is raw JSON.
 */
export type Edit =
  | { readonly op: 'replace'; readonly path: Path; readonly value: unknown }
  | { readonly op: 'add'; readonly path: Path; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: Path }

const KINDS: Readonly<Record<string, string>> = { '"': 'a string', t: 'a boolean', f: 'a boolean', n: 'null' }

/** State of a batch while its edits are collected. */
interface Batch {
  readonly text: string
  readonly rootStart: number
  readonly patches: Patch[]
  /** By the byte offset of the container. */
  readonly changes: Map<number, ContainerChanges>
  /** Pointers of the values that are replaced, removed or set anew. */
  readonly taken: Set<string>
}

/**
 * Returns the document `bytes` with `edits` spliced in; every byte outside the edited ranges is the original's.
 * Throws an `Error` that names the path when it does not exist, both paths when two edits overlap.
 */
export function applyEdits(bytes: Buffer, edits: readonly Edit[]): Buffer {
  const text = bytes.toString('latin1')
  const batch: Batch = { text, rootStart: skipSpace(text, 0), patches: [], changes: new Map(), taken: new Set() }
  for (const edit of edits) takeIn(batch, edit)
  for (const edit of edits) assertReachable(batch, edit)
  const patches = [...batch.changes.values()].flatMap((changes) => patchesOf(text, changes))
  return splice(bytes, [...batch.patches, ...patches])
}

function takeIn(batch: Batch, edit: Edit): void {
  const { path } = edit
  const container = path.length === 0 ? undefined : containerAt(batch, path)
  if (container === undefined) takeInRoot(batch, edit)
  else if (batch.text[container.start] === '[') takeInElement(batch, container, edit)
  else takeInMember(batch, container, edit)
}

function takeInRoot(batch: Batch, edit: Edit): void {
  if (edit.op === 'remove') throw new Error('the whole document cannot be removed')
  take(batch, edit.path)
  const { text, rootStart } = batch
  batch.patches.push({ start: rootStart, end: skipValue(text, rootStart, 0), parts: [toJson(edit)] })
}

function takeInElement(batch: Batch, container: ContainerChanges, edit: Edit): void {
  const count = container.children.length
  const index = elementIndex(edit.path, count)
  if (index === undefined) throw missing(batch, edit.path, container)
  if (edit.op === 'add') insert(container, index, toJson(edit))
  else if (index < count) change(batch, { container, index, edit })
  else throw missing(batch, edit.path, container)
}

function takeInMember(batch: Batch, container: ContainerChanges, edit: Edit): void {
  const index = memberIndex(container, edit.path)
  if (index >= 0) {
    change(batch, { container, index, edit })
    return
  }
  if (edit.op !== 'add') throw missing(batch, edit.path, container)
  take(batch, edit.path)
  const key = Buffer.from(`${JSON.stringify(String(edit.path.at(-1)))}:`)
  insert(container, container.children.length, Buffer.concat([key, toJson(edit)]))
}

interface Target {
  readonly container: ContainerChanges
  readonly index: number
  readonly edit: Edit
}

/** Replaces or removes an existing child. */
function change(batch: Batch, { container, index, edit }: Target): void {
  take(batch, edit.path)
  if (edit.op === 'remove') container.removed.add(index)
  else container.replaced.set(index, toJson(edit))
}

function insert({ inserted }: ContainerChanges, index: number, bytes: Buffer): void {
  const values = inserted.get(index)
  if (values === undefined) inserted.set(index, [bytes])
  else values.push(bytes)
}

/** Returns the object or array that holds the last step of `path`, scanned once in a batch. Throws when it is missing. */
function containerAt(batch: Batch, path: Path): ContainerChanges {
  let container = containerFrom(batch, batch.rootStart, path.slice(0, 1))
  for (let depth = 1; depth < path.length; depth++) {
    const child = childAt(batch, container, path.slice(0, depth))
    container = containerFrom(batch, child.start, path.slice(0, depth + 1))
  }
  return container
}

/** Returns the object or array at `start`, for a step into it: to `path`. */
function containerFrom(batch: Batch, start: number, path: Path): ContainerChanges {
  const { text, changes } = batch
  const known = changes.get(start)
  if (known !== undefined) return known
  if (text[start] !== '{' && text[start] !== '[') {
    throw new Error(
      `no ${toPointer(path)}: there is ${KINDS[text[start] ?? ''] ?? 'a number'} at ${toPointer(path.slice(0, -1))}`,
    )
  }
  const container = {
    start,
    children: children(text, start),
    replaced: new Map(),
    removed: new Set<number>(),
    inserted: new Map(),
  }
  changes.set(start, container)
  return container
}

function childAt(batch: Batch, container: ContainerChanges, path: Path): Child {
  const isArray = batch.text[container.start] === '['
  const index = isArray ? elementIndex(path, container.children.length) : memberIndex(container, path)
  const child = container.children[index ?? -1]
  if (child === undefined) throw missing(batch, path, container)
  return child
}

const INDEX = /^(?:0|[1-9]\d*)$/

/** Returns the index for the last step of `path` in an array of `count` elements; `undefined` when there is none. */
function elementIndex(path: Path, count: number): number | undefined {
  const step = path.at(-1)
  if (step === '-') return count
  const index = INDEX.test(String(step)) ? Number(step) : count + 1
  return index <= count ? index : undefined
}

/** Returns the index of the member that the last step of `path` names, -1 for none. Throws when there are two. */
function memberIndex(container: ContainerChanges, path: Path): number {
  container.indexes ??= indexesOf(container.children)
  const index = container.indexes.get(String(path.at(-1))) ?? -1
  if (index !== TWICE) return index
  throw new Error(`${toPointer(path)} occurs twice in the document`)
}

const TWICE = -2

/** Indexes members by name: with searches one by one, a thousand edits of one object would be a million comparisons. */
function indexesOf(children: readonly Child[]): Map<string, number> {
  const indexes = new Map<string, number>()
  for (const [index, { key = '' }] of children.entries()) indexes.set(key, indexes.has(key) ? TWICE : index)
  return indexes
}

function missing(batch: Batch, path: Path, { start, children }: ContainerChanges): Error {
  const found = batch.text[start] === '[' ? `an array of ${children.length}` : 'an object without it'
  return new Error(`no ${toPointer(path)}: there is ${found} at ${toPointer(path.slice(0, -1))}`)
}

/** Records that the value at `path` is replaced. Throws when another edit has taken it. */
function take({ taken }: Batch, path: Path): void {
  const pointer = toPointer(path)
  if (taken.has(pointer)) throw new Error(`two edits overlap: ${pointer} and ${pointer}`)
  taken.add(pointer)
}

/** Throws when an edit goes into a value that another one replaces or removes. */
function assertReachable({ taken }: Batch, { path }: Edit): void {
  let above = ''
  for (const step of path) {
    if (taken.has(above || ROOT)) throw new Error(`two edits overlap: ${above || ROOT} and ${toPointer(path)}`)
    above += toStep(step)
  }
}

/** Prints a JSON Pointer, RFC 6901; the root, which is the empty string there, as `(the root)`. */
function toPointer(path: Path): string {
  return path.length === 0 ? ROOT : path.map(toStep).join('')
}

const ROOT = '(the root)'

function toStep(step: string | number): string {
  return `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function toJson(edit: Extract<Edit, { value: unknown }>): Buffer {
  if (Buffer.isBuffer(edit.value)) return edit.value
  // The declared type leaves out that functions and undefined have no JSON form.
  const json = JSON.stringify(edit.value) as string | undefined
  if (json === undefined) throw new Error(`the value for ${toPointer(edit.path)} has no JSON form`)
  return Buffer.from(json)
}

/** Copies `bytes` with the patches, none of which overlap, in place. */
function splice(bytes: Buffer, patches: readonly Patch[]): Buffer {
  const inOrder = patches.toSorted((a, b) => a.start - b.start || a.end - b.end)
  const parts: Buffer[] = []
  let copied = 0
  for (const { start, end, parts: replacement } of inOrder) {
    parts.push(bytes.subarray(copied, start), ...replacement)
    copied = end
  }
  parts.push(bytes.subarray(copied))
  return Buffer.concat(parts)
}
