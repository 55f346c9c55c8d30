import test from 'ava'
import fc from 'fast-check'
import { jsonObjects } from '../../../test/support/request-bodies.ts'
import { children, type Range } from './scan.ts'
import { applyEdits, type Edit, type Path } from './splice.ts'

const original = Buffer.from(' {"a": [1.0, 2, 3], "b": 9007199254740993 , "c":{ }, "d":[ ], "é":{"x/y":[{"k":1}]}} ')

function edited(...edits: Edit[]): string {
  return applyEdits(original, edits).toString().trim()
}

test('applyEdits: no edits, no change', (t) => {
  t.deepEqual(applyEdits(original, []), original)
})

test('applyEdits: paths refer to the original, so edits do not shift each other', (t) => {
  t.is(
    edited(
      { op: 'remove', path: ['a', 0] },
      { op: 'remove', path: ['a', 1] },
      { op: 'add', path: ['a', '-'], value: 9 },
      { op: 'add', path: ['a', 1], value: 'new' },
    ),
    '{"a": ["new", 3,9], "b": 9007199254740993 , "c":{ }, "d":[ ], "é":{"x/y":[{"k":1}]}}',
  )
})

test('applyEdits: removed elements take one comma each along, wherever they are', (t) => {
  const removed = (...indexes: number[]) =>
    applyEdits(
      Buffer.from('[ 0 , 1 , 2 , 3 ]'),
      indexes.map((index) => ({ op: 'remove', path: [index] })),
    ).toString()
  t.is(removed(0), '[ 1 , 2 , 3 ]')
  t.is(removed(3), '[ 0 , 1 , 2 ]')
  t.is(removed(2, 1), '[ 0 , 3 ]')
  t.is(removed(2, 3), '[ 0 , 1 ]')
  t.is(removed(0, 2), '[ 1 , 3 ]')
  t.is(removed(0, 1, 2, 3), '[  ]')
})

test('applyEdits: removed members take their key along', (t) => {
  const rest = '"é":{"x/y":[{"k":1}]}}'
  t.is(
    edited({ op: 'remove', path: ['a'] }, { op: 'remove', path: ['c'] }, { op: 'remove', path: ['d'] }),
    `{"b": 9007199254740993, ${rest}`,
  )
  t.is(edited(...['a', 'b', 'c', 'd', 'é'].map((key) => ({ op: 'remove' as const, path: [key] }))), '{}')
})

test('applyEdits: empty containers are filled, in the order given', (t) => {
  const text = edited(
    { op: 'add', path: ['c', 'ü"'], value: '漢' },
    { op: 'add', path: ['d', '-'], value: 1 },
    { op: 'add', path: ['d', 0], value: [2] },
  )
  t.true(text.includes('"c":{"ü\\"":"漢" }, "d":[1,[2] ]'), text)
})

test('applyEdits: add sets a member that is there, and inserts before an element', (t) => {
  const text = edited(
    { op: 'add', path: ['b'], value: null },
    { op: 'add', path: ['a', 1], value: 'x' },
    { op: 'replace', path: ['a', 1], value: 'y' },
  )
  t.true(text.startsWith('{"a": [1.0, "x","y", 3], "b": null ,'), text)
})

test('applyEdits: a Buffer is inserted as raw JSON', (t) => {
  const text = edited({ op: 'replace', path: ['é', 'x/y', 0, 'k'], value: Buffer.from('[1.0, 1e5]') })
  t.true(text.endsWith('"é":{"x/y":[{"k":[1.0, 1e5]}]}}'), text)
})

test('applyEdits: the whole document is replaced, not what is around it', (t) => {
  t.is(applyEdits(original, [{ op: 'replace', path: [], value: 1 }]).toString(), ' 1 ')
})

test('applyEdits: a path that does not exist is named, with its nearest existing parent', (t) => {
  const cases: [Edit, string][] = [
    [{ op: 'replace', path: ['q', 'x'], value: 1 }, 'no /q: there is an object without it at (the root)'],
    [{ op: 'remove', path: ['a', 3] }, 'no /a/3: there is an array of 3 at /a'],
    [{ op: 'add', path: ['a', 4], value: 1 }, 'no /a/4: there is an array of 3 at /a'],
    [{ op: 'remove', path: ['a', '-'] }, 'no /a/-: there is an array of 3 at /a'],
    [{ op: 'remove', path: ['a', '01'] }, 'no /a/01: there is an array of 3 at /a'],
    [{ op: 'remove', path: ['b', 'x'] }, 'no /b/x: there is a number at /b'],
    [
      { op: 'replace', path: ['é', 'x/y', 0, 'z'], value: 1 },
      'no /é/x~1y/0/z: there is an object without it at /é/x~1y/0',
    ],
    [{ op: 'remove', path: [] }, 'the whole document cannot be removed'],
    [{ op: 'add', path: ['b'], value: undefined }, 'the value for /b has no JSON form'],
  ]
  for (const [edit, message] of cases) t.throws(() => applyEdits(original, [edit]), { message })
})

test('applyEdits: overlapping edits are refused with both paths', (t) => {
  const replace = (...path: Path): Edit => ({ op: 'replace', path, value: 1 })
  const remove = (...path: Path): Edit => ({ op: 'remove', path })
  const cases: [Edit, Edit, string][] = [
    [replace('é'), replace('é', 'x/y', 0), 'two edits overlap: /é and /é/x~1y/0'],
    [remove('é', 'x/y', 0, 'k'), remove('é', 'x/y'), 'two edits overlap: /é/x~1y and /é/x~1y/0/k'],
    [remove('a', 1), remove('a', '1'), 'two edits overlap: /a/1 and /a/1'],
    [replace('b'), remove('b'), 'two edits overlap: /b and /b'],
    [replace(), remove('a'), 'two edits overlap: (the root) and /a'],
    [
      { op: 'add', path: ['new'], value: 1 },
      { op: 'add', path: ['new'], value: 2 },
      'two edits overlap: /new and /new',
    ],
  ]
  for (const [first, second, message] of cases) t.throws(() => applyEdits(original, [first, second]), { message })
})

test('applyEdits: a member that occurs twice is not edited', (t) => {
  t.throws(() => applyEdits(Buffer.from('{"a":1,"a":2}'), [{ op: 'remove', path: ['a'] }]), {
    message: /\/a occurs twice/,
  })
})

test('applyEdits: an edit of one message leaves every other byte alone', (t) => {
  const messages = [0, 1, 2].map((i) => ` {"role" : "user", "content": "\\u00e9 ${i} é", "n": 1.0 }\n`)
  const body = (list: string[]) => Buffer.from(`{"10":1,"2":1e5,"messages":[${list.join(',')}], "model":"m"}`)
  const edit: Edit = { op: 'replace', path: ['messages', 1, 'content'], value: 'short' }
  const expected = messages.with(1, ' {"role" : "user", "content": "short", "n": 1.0 }\n')
  t.deepEqual(applyEdits(body(messages), [edit]), body(expected))
})

/** A document as a tree with the raw text of each scalar in the leaves: it shows a value that was printed again. */
type Raw = string | Raw[] | Map<string, Raw>

function rawOf(text: string, start: number, end: number): Raw {
  const first = text[start]
  if (first !== '{' && first !== '[') return text.slice(start, end)
  const found = children(text, start)
  if (first === '[') return found.map((child) => rawOf(text, child.start, child.end))
  return new Map(found.map((child) => [child.key ?? '', rawOf(text, child.start, child.end)]))
}

function rawDocument(bytes: Buffer): Raw {
  const text = bytes.toString('latin1')
  const start = text.search(/\S/)
  return rawOf(text, start, text.length)
}

function entriesOf(raw: Raw): [string | number, Raw][] {
  if (typeof raw === 'string') return []
  return raw instanceof Map ? [...raw] : raw.map((value, index) => [index, value])
}

/** Lists the paths of all values below the root. */
function pathsIn(raw: Raw, path: Path = []): Path[] {
  return entriesOf(raw).flatMap(([step, value]) => [[...path, step], ...pathsIn(value, [...path, step])])
}

/** Applies the batch to the tree, by the definition of the operations: the reference. */
function expectedRaw(raw: Raw, edits: readonly Edit[], path: Path = []): Raw {
  const editsOf = (op: string, at: Path) => edits.filter((edit) => edit.op === op && isSame(edit.path, at))
  const [replacement] = editsOf('replace', path)
  if (replacement !== undefined) return newValue(replacement)
  if (typeof raw === 'string') return raw
  const entries = entriesOf(raw).flatMap(([step, value]): [string | number, Raw][] => {
    const added = editsOf('add', [...path, step]).map((edit): [string | number, Raw] => [step, newValue(edit)])
    const isGone = editsOf('remove', [...path, step]).length > 0
    return isGone ? added : [...added, [step, expectedRaw(value, edits, [...path, step])]]
  })
  if (raw instanceof Map) return new Map(entries.map(([step, value]) => [String(step), value]))
  return entries.map(([, value]) => value)
}

function newValue(edit: Edit): Raw {
  return rawDocument(Buffer.from(JSON.stringify(edit.op === 'remove' ? null : edit.value)))
}

function isSame(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, i) => String(step) === String(b[i]))
}

function isWithin(inner: Path, outer: Path): boolean {
  return inner.length >= outer.length && isSame(inner.slice(0, outer.length), outer)
}

const batches = fc.tuple(
  jsonObjects,
  fc.array(fc.tuple(fc.nat(), fc.constantFrom('replace', 'remove', 'add'), fc.jsonValue({ maxDepth: 2 }))),
)

/** Makes edits of existing places; an `add` inserts before an element. Those that would overlap an earlier one are left out. */
function editsFrom(raw: Raw, choices: readonly [number, 'replace' | 'remove' | 'add', unknown][]): Edit[] {
  const paths = pathsIn(raw)
  const edits: Edit[] = []
  for (const [choice, wanted, value] of choices) {
    const path = paths[choice % paths.length]
    if (path === undefined) continue
    const op = wanted === 'add' && typeof path.at(-1) === 'string' ? 'replace' : wanted
    const edit: Edit = op === 'remove' ? { op, path } : { op, path, value }
    if (!edits.some((earlier) => overlaps(earlier, edit) || overlaps(edit, earlier))) edits.push(edit)
  }
  return edits
}

/** Returns whether `inner` touches a value that `outer` replaces. */
function overlaps(outer: Edit, inner: Edit): boolean {
  if (outer.op === 'add') return false
  return inner.op === 'add' ? isWithin(inner.path.slice(0, -1), outer.path) : isWithin(inner.path, outer.path)
}

test('applyEdits: a batch gives the patched value, and every untouched scalar keeps its bytes', (t) => {
  let edits = 0
  fc.assert(
    fc.property(batches, ([json, choices]) => {
      const bytes = Buffer.from(json)
      const raw = rawDocument(bytes)
      const batch = editsFrom(raw, choices)
      edits += batch.length
      const result = applyEdits(bytes, batch)
      t.notThrows(() => JSON.parse(result.toString()))
      t.deepEqual(rawDocument(result), expectedRaw(raw, batch), JSON.stringify(batch))
    }),
    { numRuns: 1000 },
  )
  t.true(edits > 200, `${edits} edits`)
})

test('applyEdits: replacing values leaves all bytes around them, white space too', (t) => {
  fc.assert(
    fc.property(batches, ([json, choices]) => {
      const bytes = Buffer.from(json)
      const replacements = choices.map(([choice]): [number, 'replace', unknown] => [choice, 'replace', null])
      const paths = editsFrom(rawDocument(bytes), replacements).map(({ path }) => path)
      const marked = applyEdits(
        bytes,
        paths.map((path) => ({ op: 'replace', path, value: MARK })),
      )
      const values = paths.map((path) => rangeOf(bytes.toString('latin1'), path)).sort((a, b) => a.start - b.start)
      const around = marked.toString('latin1').split(MARK.toString())
      const restored = around.map(
        (part, i) => part + bytes.toString('latin1', values[i]?.start ?? 0, values[i]?.end ?? 0),
      )
      t.is(restored.join(''), bytes.toString('latin1'))
    }),
    { numRuns: 500 },
  )
})

/** Raw JSON that no generated document contains. */
const MARK = Buffer.from('"~mark~"')

function rangeOf(text: string, path: Path): Range {
  let range = { start: text.search(/\S/), end: text.length }
  for (const step of path) {
    const found = children(text, range.start)
    range = found.find(({ key }, index) => step === (key ?? index)) ?? range
  }
  return range
}
