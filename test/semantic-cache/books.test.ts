import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import fc from 'fast-check'
import type { ScopedFact } from '../../plugins/semantic-cache/entries/book.ts'
import type { Entry } from '../../plugins/semantic-cache/entry.ts'
import type { Scopes } from '../../plugins/semantic-cache/scopes.ts'
import { eventually } from '../support/cache-stage.ts'
import { ENGINES, openScopes } from './book-stage.ts'

const HOUR_MS = 3_600_000
const VECTOR = Int8Array.of(127, 0, 0, 0)

function entry(text: string, parts: Partial<Entry> = {}): Entry {
  return { id: `id of ${text}`, text, storedAtMs: Date.now(), expiresAtMs: Date.now() + HOUR_MS, ...parts }
}

/** The texts of a scope as a process sees it; it is asked again until it can be loaded. */
async function textsOf(scopes: Scopes, scope: string): Promise<string[]> {
  const { index } = await eventually(
    () => scopes.open(scope),
    ({ reason }) => reason === undefined,
  )
  const near = index?.nearest(VECTOR, { count: 1000, leastCosine: -1, nowMs: Date.now() }) ?? []
  return near.map(({ entry: { text } }) => text).sort()
}

function untilTexts(scopes: Scopes, scope: string, texts: readonly string[]): Promise<string[]> {
  const expected = JSON.stringify([...texts].sort())
  return eventually(
    () => textsOf(scopes, scope),
    (found) => JSON.stringify(found) === expected,
    3000,
  )
}

for (const [engine, createPlace] of Object.entries(ENGINES)) {
  test(`${engine}: what one process adds, another finds, whether it had loaded the scope or not`, async (t) => {
    const place = await createPlace(t)
    const [one, other] = [openScopes(t, place), openScopes(t, place)]
    t.deepEqual(await textsOf(other, 's'), [])
    t.deepEqual(await textsOf(one, 's'), [])
    one.add('s', entry('a'), VECTOR)
    await untilTexts(other, 's', ['a'])
    const third = openScopes(t, place)
    await untilTexts(third, 's', ['a'])
    const [found] = (await third.open('s')).index?.nearest(VECTOR, { count: 1, leastCosine: 0, nowMs: 0 }) ?? []
    t.is(found?.cosine, 1)
    t.is(found?.entry.id, 'id of a')
    t.deepEqual(await textsOf(third, 'another'), [])
  })

  test.serial(`${engine}: each of a hundred new entries is seen by another process`, async (t) => {
    const place = await createPlace(t)
    const [one, other] = [openScopes(t, place), openScopes(t, place)]
    await Promise.all([textsOf(one, 's'), textsOf(other, 's')])
    const timesMs: number[] = []
    for (let i = 0; i < 100; i++) {
      const startedMs = performance.now()
      one.add('s', entry(`text ${i}`), VECTOR)
      while ((await other.open('s')).index?.find(`text ${i}`, 0) === undefined) await sleep(1)
      timesMs.push(performance.now() - startedMs)
    }
    timesMs.sort((a, b) => a - b)
    t.log(`p50 ${timesMs[50]?.toFixed(1)} ms, p95 ${timesMs[95]?.toFixed(1)} ms`)
    t.is(timesMs.length, 100)
  })

  test(`${engine}: a removal wins over what was added before and over what comes after`, async (t) => {
    const place = await createPlace(t)
    const [one, other] = [openScopes(t, place), openScopes(t, place)]
    await textsOf(one, 's')
    one.add('s', entry('a', { id: 'x' }), VECTOR)
    one.add('s', entry('b', { id: 'y' }), VECTOR)
    await untilTexts(other, 's', ['a', 'b'])
    other.removeReply('s', 'x')
    await untilTexts(one, 's', ['b'])
    one.add('s', entry('late alias', { id: 'x' }), VECTOR)
    one.add('s', entry('c', { id: 'z' }), VECTOR)
    await untilTexts(other, 's', ['b', 'c'])
    t.deepEqual(await untilTexts(openScopes(t, place), 's', ['b', 'c']), ['b', 'c'])
  })

  test(`${engine}: a block holds everywhere until it expires`, async (t) => {
    const place = await createPlace(t)
    const [one, other] = [openScopes(t, place), openScopes(t, place)]
    const pair = { text: 'a', id: 'x' }
    await Promise.all([textsOf(one, 's'), textsOf(other, 's')])
    one.block('s', 'a', 'x')
    const isBlocked = async (scopes: Scopes, nowMs: number) =>
      (await scopes.open('s')).index?.lessons.isBlocked(pair, nowMs)
    const third = openScopes(t, place)
    for (const scopes of [other, third])
      await eventually(
        () => isBlocked(scopes, Date.now()),
        (is) => is === true,
      )
    t.false(await isBlocked(other, Date.now() + 1000 * 24 * HOUR_MS))
    t.false(other.isBlocked('s', 'a', 'y'))
    t.true(other.isBlocked('s', 'a', 'x'))
  })

  test(`${engine}: what has expired is not loaded`, async (t) => {
    const place = await createPlace(t)
    const one = openScopes(t, place)
    await textsOf(one, 's')
    one.add('s', entry('short', { expiresAtMs: Date.now() + 30_000 }), VECTOR)
    one.add('s', entry('long'), VECTOR)
    await untilTexts(openScopes(t, place), 's', ['long', 'short'])
    const later = openScopes(t, place, { nowMs: () => Date.now() + 60_000 })
    await eventually(
      async () => (await later.open('s')).index?.size,
      (size) => size === 1,
    )
    t.deepEqual(await textsOf(later, 's'), ['long'])
  })

  test(`${engine}: scopes in which all has expired are no longer in memory, empty ones too`, async (t) => {
    const place = await createPlace(t)
    let aheadMs = 0
    const scopes = openScopes(t, place, { nowMs: () => Date.now() + aheadMs })
    for (let nth = 0; nth < 20; nth++) {
      await textsOf(scopes, `short ${nth}`)
      if (nth % 5 > 0) scopes.add(`short ${nth}`, entry('a', { expiresAtMs: Date.now() + 90_000 }), VECTOR)
    }
    await textsOf(scopes, 'long')
    scopes.add('long', entry('a', { expiresAtMs: Date.now() + HOUR_MS }), VECTOR)
    t.is(scopes.entryCount, 21)
    aheadMs += 50_000
    await textsOf(scopes, 'new')
    t.is(scopes.entryCount, 22)
    aheadMs += 50_000
    await textsOf(scopes, 'newer')
    t.is(scopes.entryCount, 3, 'long, new and newer')
    t.deepEqual(await textsOf(scopes, 'long'), ['a'])
  })

  test(`${engine}: a scope that is cleared is empty for everybody; clearing all clears all`, async (t) => {
    const place = await createPlace(t)
    const [one, other] = [openScopes(t, place), openScopes(t, place)]
    await textsOf(one, 's')
    for (const scope of ['s', 'u', 'v']) one.add(scope, entry('a'), VECTOR)
    for (const scope of ['s', 'u', 'v']) await untilTexts(other, scope, ['a'])
    const book = place.open()
    t.teardown(() => book.close())
    await eventually(
      () =>
        book
          .clear('s')
          .then(() => true)
          .catch(() => false), // prettier: one line
      Boolean,
    )
    await untilTexts(other, 's', [])
    t.deepEqual(await textsOf(other, 'u'), ['a'])
    await book.clear(undefined)
    await untilTexts(other, 'u', [])
    await untilTexts(one, 'v', [])
  })

  test(`${engine}: no more entries of a scope are kept than allowed`, async (t) => {
    const place = await createPlace(t)
    const one = openScopes(t, place, { maxScopeEntries: 5 })
    await textsOf(one, 's')
    for (let i = 0; i < 20; i++) one.add('s', entry(`text ${i}`), VECTOR)
    const book = place.open()
    t.teardown(() => book.close())
    const listed = async () => {
      const found: ScopedFact[] = []
      // A store that is slow is asked again.
      await book.list((portion) => void found.push(...portion)).catch(() => {})
      return found.length
    }
    await eventually(listed, (count) => count === 5)
    t.is((await textsOf(one, 's')).length, 5)
  })

  test(`${engine}: a scope of thousands is loaded whole`, async (t) => {
    const place = await createPlace(t)
    const one = openScopes(t, place)
    await textsOf(one, 's')
    for (let i = 0; i < 1500; i++) one.add('s', entry(`text ${i}`), VECTOR)
    const other = openScopes(t, place)
    await eventually(
      async () => (await other.open('s')).index?.size,
      (size) => size === 1500,
    )
    t.pass()
  })

  test(`${engine}: after any additions and removals by two processes, all see what a plain list says`, async (t) => {
    const place = await createPlace(t)
    const processes = [openScopes(t, place), openScopes(t, place)] as const
    const step = fc.record({
      by: fc.constantFrom(0, 1),
      scope: fc.constantFrom('s', 'u'),
      text: fc.constantFrom(...'abcd'),
      id: fc.constantFrom(...'vwxyz'),
      kind: fc.constantFrom('add', 'add', 'add', 'remove'),
    })
    await Promise.all(processes.map((scopes) => textsOf(scopes, 's')))
    let run = 0
    const counts = { kept: 0, removed: 0 }
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      run++
      const plain = new Map<string, Map<string, string>>()
      const removed = new Set<string>()
      const added = new Set<string>()
      for (const [i, { by, scope, text, id, kind }] of steps.entries()) {
        const name = `${scope} ${run}`
        const entries = plain.get(name) ?? new Map<string, string>()
        plain.set(name, entries)
        if (kind === 'add') {
          // A reply has an id of its own: no text comes to lead to the same one at two moments.
          if (added.has(`${name} ${text} ${id}`)) continue
          added.add(`${name} ${text} ${id}`)
          processes[by === 0 ? 0 : 1].add(name, entry(text, { id, storedAtMs: Date.now() + i }), VECTOR)
          if (!removed.has(`${name} ${id}`)) entries.set(text, id)
        } else {
          processes[by === 0 ? 0 : 1].removeReply(name, id)
          removed.add(`${name} ${id}`)
          for (const [known, its] of entries) if (its === id) entries.delete(known)
          counts.removed++
          // One who does not know yet may put what is removed in the place of what is not: that costs a miss.
          for (const scopes of processes) {
            await eventually(
              async () => (await scopes.open(name)).index?.lessons.isRemoved(id),
              (is) => is === true,
            )
          }
        }
        // Whose fact comes first is for the clock of the one who adds, not for the order of arrival.
        await sleep(1)
      }
      // An older answer to a text may be seen where the later one was removed, for it is none of those removed.
      for (const [name, entries] of plain) {
        counts.kept += entries.size
        for (const scopes of processes) {
          const idOf = async (text: string) => (await scopes.open(name)).index?.find(text, 0)?.id
          for (const [text, id] of entries)
            await eventually(
              () => idOf(text),
              (found) => found === id,
            )
          for (const text of await textsOf(scopes, name)) {
            const id = (await idOf(text)) ?? ''
            if (removed.has(`${name} ${id}`) || !added.has(`${name} ${text} ${id}`)) throw new Error(`${text} ${id}`)
          }
        }
      }
    })
    await fc.assert(property, { numRuns: 25 })
    t.true(counts.kept > 20 && counts.removed > 10, JSON.stringify(counts))
  })
}
