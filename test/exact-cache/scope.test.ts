import test from 'ava'
import { stateOf } from '../support/cache-fixture.ts'
import { isDrill } from '../support/drill.ts'
import { valueAt } from '../support/json.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'

const ROUNDS = isDrill ? 60 : 25
const sharingConfig = { plugins: { 'exact-cache': { allow_shared: true } } }
const [fixture, sharing] = await Promise.all([startSharedFixture(), startSharedFixture({ config: sharingConfig })])
test.after.always(() => Promise.all([fixture.close(), sharing.close()]))

test('scope: two credentials do not share', async (t) => {
  await fixture.ask(t.title, { as: 'alice' })
  t.is(stateOf(await fixture.ask(t.title, { as: 'bob' })), 'miss')
  t.is(stateOf(await fixture.ask(t.title, { as: 'alice' })), 'hit')
})

test('scope: credentials that differ in case or in white space inside do not share', async (t) => {
  const names = ['alice', 'Alice', 'alice.', 'alic', 'alicee']
  for (const as of names) t.is(stateOf(await fixture.ask(t.title, { as })), 'miss')
})

test('scope: a running reply is not shared by two credentials', async (t) => {
  const gate = Promise.withResolvers<void>()
  fixture.script(t.title, { kind: 'answer', before: { until: gate.promise } })
  const asking = ['alice', 'bob'].map((as) => fixture.ask(t.title, { as, stream: true }))
  await fixture.called(t.title, 2)
  gate.resolve()
  t.deepEqual((await Promise.all(asking)).map(stateOf), ['miss', 'miss'])
})

test('scope: no caller ever gets a reply to another', async (t) => {
  const callers = Array.from({ length: 12 }, (_, i) => `caller-${i}`)
  const prompts = Array.from({ length: 8 }, (_, i) => `${t.title} ${i}`)
  const ownerOf = new Map<unknown, string>()
  const asked = new Set<string>()
  let seed = 1
  const below = (limit: number) => {
    seed = (seed * 48271) % 2147483647 // Lehmer's generator: the same order on every run
    return seed % limit
  }
  const askOnce = async () => {
    const as = String(callers[below(callers.length)])
    const prompt = String(prompts[below(prompts.length)])
    const extra = below(2) === 0 ? {} : { temperature: 0.5 }
    const question = JSON.stringify([as, prompt, extra])
    asked.add(question)
    const { json } = await fixture.ask(prompt, { as, extra })
    const id = valueAt(json, 'id')
    if (ownerOf.has(id) && ownerOf.get(id) !== question) t.fail(`${question} got the answer of ${ownerOf.get(id)}`)
    ownerOf.set(id, question)
  }
  for (let i = 0; i < ROUNDS; i++) await Promise.all(Array.from({ length: 8 }, askOnce))
  t.is(ownerOf.size, asked.size)
  t.is(
    prompts.reduce((sum, prompt) => sum + fixture.calls(prompt), 0),
    asked.size,
  )
})

test('scope: `shared` is refused unless the operator allows it', async (t) => {
  const { status, text } = await fixture.ask(t.title, { pipe: 'exact-cache?scope=shared' })
  t.is(status, 400)
  t.regex(text, /scope.*the operator does not allow `shared`/)
  t.is(fixture.calls(t.title), 0)
})

test('scope: an unknown scope is refused', async (t) => {
  t.is((await fixture.ask(t.title, { pipe: 'exact-cache?scope=all' })).status, 400)
})

test('scope: `shared` is shared by all callers that request it, where the operator allows it', async (t) => {
  const pipe = 'exact-cache?scope=shared'
  const first = await sharing.ask(t.title, { as: 'alice', pipe })
  const second = await sharing.ask(t.title, { as: 'bob', pipe })
  t.is(stateOf(second), 'hit')
  t.is(second.text, first.text)
})

test('scope: a private request is not shared, even where that is allowed', async (t) => {
  await sharing.ask(t.title, { as: 'alice' })
  t.is(stateOf(await sharing.ask(t.title, { as: 'alice', pipe: 'exact-cache?scope=shared' })), 'miss')
  t.is(stateOf(await sharing.ask(t.title, { as: 'bob' })), 'miss')
})

test('scope: `user` keeps credentials without a user apart', async (t) => {
  const pipe = 'exact-cache?scope=user'
  await fixture.ask(t.title, { as: 'alice', pipe })
  t.is(stateOf(await fixture.ask(t.title, { as: 'bob', pipe })), 'miss')
})
