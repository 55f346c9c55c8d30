import { registerHooks } from 'node:module'
import test from 'ava'
import { startFixture, stateOf } from '../support/cache-fixture.ts'

const PACKAGE = 'hnswlib-node'
/** One more than are scanned where there is an index. */
const MANY = 501
const AT_ONCE = 25
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === PACKAGE) throw Object.assign(new Error(`Cannot find ${PACKAGE}`), { code: 'MODULE_NOT_FOUND' })
    return nextResolve(specifier, context)
  },
})

const WORDS = 4

/** Words that another subject does not have. */
function subjectOf(n: number): string {
  const letter = (place: number) => LETTERS[Math.floor(n / LETTERS.length ** (place % 2)) % LETTERS.length]
  const word = (place: number) => `${letter(place)}${LETTERS[place]}${letter(place + 1)}${LETTERS[place + WORDS]}`
  return Array.from({ length: WORDS }, (_, place) => word(place)).join(' ')
}

test('semantic-cache: without hnswlib-node a large scope is scanned, and that is logged once', async (t) => {
  const fixture = await startFixture({ config: { plugins: { 'semantic-cache': { persist: false } } } })
  t.teardown(fixture.close)
  const ask = (prompt: string, threshold = 0.8) =>
    fixture.ask(prompt, { pipe: `semantic-cache?mode=threshold&threshold=${threshold}` })
  const prompts = Array.from({ length: MANY }, (_, n) => `How do I find ${subjectOf(n)}?`)
  for (let n = 0; n < MANY; n += AT_ONCE) await Promise.all(prompts.slice(n, n + AT_ONCE).map((prompt) => ask(prompt)))
  for (const n of [0, MANY - 1]) {
    const asked = `How do I see ${subjectOf(n)}?`
    t.is(stateOf(await ask(asked)), 'semantic', asked)
    t.is(fixture.calls(asked), 0)
  }
  await ask('What is a lighthouse?', 0.7)
  const lines = fixture.gateway.log().split('\n')
  const told = lines.filter((line) => line.includes('graph.missing'))
  t.is(told.length, 1, told.join('\n'))
  t.regex(String(told[0]), /hnswlib-node/)
})
