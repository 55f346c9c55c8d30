import { SourceMap } from 'node:module'
import path from 'node:path'
import test from 'ava'
import { rolldown } from 'rolldown'
import { findSources, type Place } from './source-map.ts'

const CORE = path.resolve(import.meta.dirname, '../core')
const COLUMNS = [0, 1, 7, 20, 60, 200]

test('source map: every place of a bundle has the source that Node finds for it', async (t) => {
  const bundle = await rolldown({ input: path.join(CORE, 'buffered-writer.ts'), platform: 'node' })
  const { output } = await bundle.generate({ sourcemap: true })
  const [{ code, map }] = output
  if (map === null) return t.fail('no map')
  const nodes = new SourceMap({ ...map, file: '', sourceRoot: '', sourcesContent: [] })
  const lines = code.split('\n').slice(0, -1)
  const places: Place[] = lines.flatMap((_, line) => COLUMNS.map((column) => ({ line, column })))
  const found = findSources(map, places)
  let compared = 0
  for (const [index, place] of places.entries()) {
    const entry = nodes.findEntry(place.line, place.column)
    // For a line without a segment before the place, Node takes one of a line above.
    if (!('originalSource' in entry) || entry.generatedLine !== place.line) continue
    compared++
    const { originalSource: source, originalLine: line, originalColumn: column } = entry
    t.deepEqual(found[index], { source, line, column }, `${place.line}:${place.column}`)
  }
  t.true(compared > lines.length, `${compared} of ${places.length}`)
})

test('source map: a place before the first segment, behind the last line, or of generated code has no source', (t) => {
  // Line 0: from column 2, source 0, line 3, column 1; from column 6, generated code. Line 1: nothing.
  const map = { sources: ['a.ts'], mappings: 'EAGC,I;' }
  const at = (line: number, column: number) => findSources(map, [{ line, column }])[0]
  t.is(at(0, 1), undefined)
  t.deepEqual(at(0, 2), { source: 'a.ts', line: 3, column: 1 })
  t.deepEqual(at(0, 5), { source: 'a.ts', line: 3, column: 1 })
  t.is(at(0, 6), undefined)
  t.is(at(1, 0), undefined)
  t.is(at(9, 0), undefined)
})
