import test from 'ava'
import { linesOf, refusalOfStart } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { writePatterns } from '../support/patterns.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { openStage, type Scene } from '../support/stage.ts'

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

const stage = await openStage({
  config: { plugins: { watch: false, patterns: { dirs: [directory] } } },
  env: { SVC_PIPELINE: 'patterns' },
})
test.after.always(async () => {
  await stage.close()
  for (const remove of removals) remove()
})

/** A conversation of which the user has said these things. */
function ask(scene: Scene, said: readonly string[], headers: Readonly<Record<string, string>> = {}) {
  const messages = said.flatMap((content, i) => [
    ...(i === 0 ? [] : [{ role: 'assistant', content: 'Well.' }]),
    { role: 'user', content },
  ])
  return scene.send({ headers, body: { model: 'claude-sonnet-4-5', max_tokens: 100, messages } })
}

/** The messages that the provider got last. */
function sent(scene: Scene): JsonObject[] {
  return valueAt(scene.seen().at(-1)?.json, 'messages') as JsonObject[] // safe: the stand-in refuses other bodies
}

test.serial('patterns: what the header chose once stays at its place when later calls do not name it', async (t) => {
  const scene = stage.scene()
  await ask(scene, ['first of all'], { 'x-svc-patterns': 'other' })
  const first = sent(scene)
  await ask(scene, ['first of all', 'and then'])
  t.deepEqual(sent(scene).slice(0, 1), first)
  t.is(sent(scene).at(-1)?.content, 'and then')
})

test.serial('patterns: what the header begins to choose later changes nothing of what went before', async (t) => {
  const scene = stage.scene()
  await ask(scene, ['second of all'])
  const reply = await ask(scene, ['second of all', 'now'], { 'x-svc-patterns': 'other' })
  t.is(sent(scene)[0]?.content, 'second of all')
  t.is(reply.headers['x-svc-patterns'], 'other')
})

test.serial('patterns: a pattern for one turn leaves its exclusive group to later turns', async (t) => {
  const scene = stage.scene()
  await ask(scene, ['calmly, please', 'now sternly'])
  t.regex(JSON.stringify(sent(scene)[0]), /Be calm/)
  t.regex(JSON.stringify(sent(scene).at(-1)), /Be stern/)
})

test.serial('patterns: another caller’s conversation is another one', async (t) => {
  const scene = stage.scene()
  await ask(scene, ['third of all'], { 'x-svc-patterns': 'other', authorization: 'Bearer one' })
  const reply = await ask(scene, ['third of all', 'now'], { authorization: 'Bearer two' })
  t.is(reply.headers['x-svc-patterns'], undefined)
})

test.serial('patterns: the last message is decided anew, so that a call can be made again without', async (t) => {
  const scene = stage.scene()
  await ask(scene, ['fourth of all'], { 'x-svc-patterns': 'other' })
  const reply = await ask(scene, ['fourth of all'])
  t.is(reply.headers['x-svc-patterns'], undefined)
})

test.serial(
  'patterns: a conversation stays with the patterns that it began with, and new ones have the new',
  async (t) => {
    const scene = stage.scene()
    await ask(scene, ['briefly, please'])
    const before = sent(scene)
    writePatterns(directory, { 'brief/PATTERN.md': pattern('Version two.') })
    await eventually(
      () => linesOf(stage.gateway).some(({ msg }) => msg === 'patterns.reloaded'),
      'the patterns are reloaded',
    )
    await ask(scene, ['briefly, please', 'again briefly'])
    t.deepEqual(sent(scene).slice(0, 1), before)
    t.regex(JSON.stringify(sent(scene).at(-1)), /Version one/)
    await ask(scene, ['briefly, but new'])
    t.regex(JSON.stringify(sent(scene)), /Version two/)
  },
)

test.serial('patterns: a pattern that is broken by an edit is logged, and requests go on without it', async (t) => {
  const scene = stage.scene()
  writePatterns(directory, { 'brief/PATTERN.md': '---\nmatch: {keyword: briefly}\n---\nx' })
  const isLogged = () =>
    linesOf(stage.gateway).some(({ msg, reason }) => msg === 'pattern.broken' && /`match.keyword`/.test(String(reason)))
  await eventually(isLogged, 'the fault in the log')
  const reply = await ask(scene, ['briefly, and broken'])
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
