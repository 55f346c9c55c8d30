import test from 'ava'
import { bearer } from '../support/accounts.ts'
import { ask } from '../support/http-client.ts'
import { openPluginFixture } from '../support/plugin-fixture.ts'
import { pluginSource } from '../support/plugin-folders.ts'

/*
 * Bodies that come again are recognised by their bytes, and what was found out about them is used again: from the third
 * time on, for whichever caller. All that may be shared is facts about the bytes.
 */
const TIMES = 5
const MB = 1024 * 1024

const fixture = await openPluginFixture({
  'append/index.ts': pluginSource('append', {
    options: `word: z.string().default('x')`,
    perRequest: ['word'],
    run: `exchange.edit({ op: 'replace', path: ['messages', 0, 'content'], value: o.word }); await next()`,
  }),
})
test.after.always(() => fixture.close())

/** A body of about this many bytes, whose end and middle are the same whatever `mark` is. */
const bodyOf = (mark: string, bytes = 0): Buffer =>
  Buffer.from(JSON.stringify({ ...ask(`${mark} ${'word '.repeat(bytes / 5)}and the end`), temperature: 0 }))

for (const [size, bytes] of [
  ['small', 0],
  ['3 MB', 3 * MB],
  ['5 MB, beyond what is kept', 5 * MB],
] as const)
  test(`known bodies: each of ${TIMES} equal bodies reaches the provider as it came (${size})`, async (t) => {
    const scenario = fixture.scenario()
    const body = bodyOf('equal', bytes)
    for (let nth = 0; nth < TIMES; nth++)
      t.is(
        (await scenario.send({ body, headers: { 'x-svc-pipe': 'none', ...bearer(`caller ${nth % 2}`) } })).status,
        200,
      )
    t.deepEqual(
      scenario.seen().map(({ raw }) => raw.equals(body)),
      Array.from({ length: TIMES }, () => true),
    )
  })

test('known bodies: one that differs in a byte where no fingerprint is taken is another body', async (t) => {
  const scenario = fixture.scenario()
  const bodies = ['a', 'b', 'a', 'b', 'a', 'b', 'c'].map((mark) => bodyOf(mark, 1 * MB))
  for (const body of bodies) t.is((await scenario.send({ body, headers: { 'x-svc-pipe': 'none' } })).status, 200)
  const arrived = scenario.seen().map(({ raw }, nth) => raw.equals(bodies[nth] ?? Buffer.alloc(0)))
  t.deepEqual(
    arrived,
    bodies.map(() => true),
  )
})

test('known bodies: what a module changes for one caller is changed for no other', async (t) => {
  const scenario = fixture.scenario()
  const body = bodyOf('shared bytes')
  const send = (pipe: string, caller: string) =>
    scenario.send({ body, headers: { 'x-svc-pipe': pipe, ...bearer(caller) } })
  for (let nth = 0; nth < TIMES; nth++)
    await Promise.all([send('append?word=of-one', 'one'), send('append?word=of-other', 'other'), send('none', 'third')])
  const contents = scenario.seen().map(({ json, raw }) => (raw.equals(body) ? 'as it came' : JSON.stringify(json)))
  t.is(contents.filter((text) => text === 'as it came').length, TIMES)
  t.is(contents.filter((text) => text.includes('"of-one"') && !text.includes('of-other')).length, TIMES)
  t.is(contents.filter((text) => text.includes('"of-other"') && !text.includes('of-one')).length, TIMES)
})

test('known bodies: an answer that is kept for one caller is given to no other with the same bytes', async (t) => {
  const scenario = fixture.scenario((_request, nth) => ({ kind: 'answer', text: `answer ${nth}` }))
  const body = bodyOf('cached', MB)
  const replies = []
  for (let nth = 0; nth < TIMES; nth++)
    for (const caller of ['first', 'second']) {
      const { text } = await scenario.send({ body, headers: { 'x-svc-pipe': 'exact-cache', ...bearer(caller) } })
      replies.push({ caller, answer: /answer \d+/.exec(text)?.[0] })
    }
  t.is(scenario.seen().length, 2)
  for (const caller of ['first', 'second'])
    t.is(new Set(replies.filter((each) => each.caller === caller).map(({ answer }) => answer)).size, 1)
  t.is(new Set(replies.map(({ answer }) => answer)).size, 2)
})
