import test from 'ava'
import { linesOf, refusalOfStart } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture, type Scenario } from '../support/fixture.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { writePatterns } from '../support/patterns.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

const removals: (() => void)[] = []
const { path: directory } = createPluginDirectory({ teardown: (remove) => removals.push(remove) })
const pattern = (text: string) => `---\nmatch: {keywords: briefly}\n---\n${text}`
writePatterns(directory, { 'brief/PATTERN.md': pattern('Version one.'), 'other/system.md': 'Another.' })
const toneOf = (keyword: string, text: string) =>
  `---\nmatch: {keywords: ${keyword}}\nexclusive_group: tone\n---\n${text}`
writePatterns(directory, {
  'calm/PATTERN.md': toneOf('calmly', 'Be calm.'),
  'stern/PATTERN.md': toneOf('sternly', 'Be stern.'),
})

const fixture = await openFixture({
  config: { plugins: { watch: false, patterns: { dirs: [directory] } } },
  env: { SVC_PIPELINE: 'patterns' },
})
test.after.always(async () => {
  await fixture.close()
  for (const remove of removals) remove()
})

/** A conversation of which the user has said these things. */
function ask(scenario: Scenario, said: readonly string[], headers: Readonly<Record<string, string>> = {}) {
  const messages = said.flatMap((content, i) => [
    ...(i === 0 ? [] : [{ role: 'assistant', content: 'Well.' }]),
    { role: 'user', content },
  ])
  return scenario.send({ headers, body: { model: 'claude-sonnet-4-5', max_tokens: 100, messages } })
}

/** The messages that the provider got last. */
function sent(scenario: Scenario): JsonObject[] {
  return valueAt(scenario.seen().at(-1)?.json, 'messages') as JsonObject[] // safe: the stand-in refuses other bodies
}

test.serial('patterns: what the header chose once stays at its place when later calls do not name it', async (t) => {
  const scenario = fixture.scenario()
  await ask(scenario, ['first of all'], { 'x-svc-patterns': 'other' })
  const first = sent(scenario)
  await ask(scenario, ['first of all', 'and then'])
  t.deepEqual(sent(scenario).slice(0, 1), first)
  t.is(sent(scenario).at(-1)?.content, 'and then')
})

test.serial('patterns: what the header begins to choose later changes nothing of what went before', async (t) => {
  const scenario = fixture.scenario()
  await ask(scenario, ['second of all'])
  const reply = await ask(scenario, ['second of all', 'now'], { 'x-svc-patterns': 'other' })
  t.is(sent(scenario)[0]?.content, 'second of all')
  t.is(reply.headers['x-svc-patterns'], 'other')
})

test.serial('patterns: a pattern for one turn leaves its exclusive group to later turns', async (t) => {
  const scenario = fixture.scenario()
  await ask(scenario, ['calmly, please', 'now sternly'])
  t.regex(JSON.stringify(sent(scenario)[0]), /Be calm/)
  t.regex(JSON.stringify(sent(scenario).at(-1)), /Be stern/)
})

test.serial('patterns: another caller’s conversation is another one', async (t) => {
  const scenario = fixture.scenario()
  await ask(scenario, ['third of all'], { 'x-svc-patterns': 'other', authorization: 'Bearer one' })
  const reply = await ask(scenario, ['third of all', 'now'], { authorization: 'Bearer two' })
  t.is(reply.headers['x-svc-patterns'], undefined)
})

test.serial('patterns: the last message is decided anew, so that a call can be made again without', async (t) => {
  const scenario = fixture.scenario()
  await ask(scenario, ['fourth of all'], { 'x-svc-patterns': 'other' })
  const reply = await ask(scenario, ['fourth of all'])
  t.is(reply.headers['x-svc-patterns'], undefined)
})

test.serial(
  'patterns: a conversation stays with the patterns that it began with, and new ones have the new',
  async (t) => {
    const scenario = fixture.scenario()
    await ask(scenario, ['briefly, please'])
    const before = sent(scenario)
    writePatterns(directory, { 'brief/PATTERN.md': pattern('Version two.') })
    await eventually(
      () => linesOf(fixture.gateway).some(({ msg }) => msg === 'patterns.reloaded'),
      'the patterns are reloaded',
    )
    await ask(scenario, ['briefly, please', 'again briefly'])
    t.deepEqual(sent(scenario).slice(0, 1), before)
    t.regex(JSON.stringify(sent(scenario).at(-1)), /Version one/)
    await ask(scenario, ['briefly, but new'])
    t.regex(JSON.stringify(sent(scenario)), /Version two/)
  },
)

test.serial('patterns: a pattern that is broken by an edit is logged, and requests go on without it', async (t) => {
  const scenario = fixture.scenario()
  writePatterns(directory, { 'brief/PATTERN.md': '---\nmatch: {keyword: briefly}\n---\nx' })
  const isLogged = () =>
    linesOf(fixture.gateway).some(
      ({ msg, reason }) => msg === 'pattern.broken' && /`match.keyword`/.test(String(reason)),
    )
  await eventually(isLogged, 'the fault in the log')
  const reply = await ask(scenario, ['briefly, and broken'])
  t.is(reply.status, 200)
  t.is(reply.headers['x-svc-patterns'], undefined)
})

const refusals: [options: JsonObject, says: RegExp][] = [
  [{ dirs: ['/no/such/folder'] }, /`dirs` names `\/no\/such\/folder`, and there is no such directory/],
  [{ use: 'sql-reveiw' }, /Pattern `sql-reveiw` is not known. Did you mean `sql-review`\?/],
  [{ max_token: 3 }, /unknown option `max_token`.* Did you mean `max_tokens`\?/],
]
for (const [options, says] of refusals) {
  test.serial(`patterns: a gateway with ${JSON.stringify(options)} does not start, and names the reason`, async (t) => {
    t.regex(await refusalOfStart({ pipeline: { default: 'patterns' }, plugins: { patterns: options } }), says)
  })
}
