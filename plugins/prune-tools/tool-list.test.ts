import test from 'ava'
import { ToolLists } from './tool-list.ts'
import { loadVectors } from './words/vectors.ts'

const MB = 1024 * 1024
const PROPERTIES = 900

/** Returns a distinct list of `count` tools with many parameters. */
function list(number: number, count = 10): Buffer {
  const properties = Object.fromEntries(Array.from({ length: PROPERTIES }, (_, i) => [`p${number}x${i}`, {}]))
  const tools = Array.from({ length: count }, (_, i) => ({
    name: `t${i}`,
    input_schema: { type: 'object', properties },
  }))
  return Buffer.from(JSON.stringify(tools))
}

test('tool lists: evict the least recently used to stay within their bound', (t) => {
  const lists = new ToolLists({ vectors: loadVectors(), isAlwaysIncluded: () => false, maxBytes: 32 * MB })
  const all = Array.from({ length: 20 }, (_, number) => list(number))
  const made = all.map((raw) => lists.read(raw))
  const kept = made.slice(-lists.size)
  t.true(kept.length >= 2 && kept.length < all.length, `${kept.length}`)
  t.true(kept.reduce((sum, one) => sum + (one?.bytes ?? 0), 0) <= 16 * MB)
  t.is(lists.read(all.at(-1) as Buffer), made.at(-1))
  t.not(lists.read(all[0] as Buffer), made[0])
})

test('tool lists: one that is too large for the cache is indexed all the same', (t) => {
  const lists = new ToolLists({ vectors: loadVectors(), isAlwaysIncluded: () => false, maxBytes: 8 * MB })
  t.is(lists.read(list(0, 60))?.tools.length, 60)
  t.is(lists.size, 0)
})

test('tool lists: the first words of a tool with thousands of parameters count', (t) => {
  const properties = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`word${i}`, {}]))
  const lists = new ToolLists({ vectors: loadVectors(), isAlwaysIncluded: () => false, maxBytes: 8 * MB })
  const made = lists.read(Buffer.from(JSON.stringify([{ name: 't', input_schema: { type: 'object', properties } }])))
  t.true((made?.tools[0]?.terms.size ?? 0) <= 1001)
})
