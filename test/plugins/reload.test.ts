import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import type { Fixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { openPluginFixture } from '../support/plugin-fixture.ts'
import { pluginSource } from '../support/plugin-folders.ts'
import { holdEvent } from '../support/provider/script.ts'

/** More than an old version waited for, less than the present one does. */
const BETWEEN_STEPS_MS = 250

/** A plugin of two files, whose word is in the second. */
const spoken = (name: string) =>
  pluginSource(name, {
    head: `import { word } from './word.ts'`,
    needs: ['log'],
    run: `ctx.set('x-word', word); await next()`,
    close: `services.log.info({ word }, '${name}.closed')`,
  })
const word = (text: string) => `export const word: string = '${text}'`

/** The word that a request through this module gets; its status when it gets none. */
async function wordOf(fixture: Fixture, pipe: string): Promise<string | number> {
  const { status, headers } = await fixture.scenario().send({ body: ask('hi'), headers: { 'x-svc-pipe': pipe } })
  return status === 200 ? String(headers['x-word']) : status
}

const says = (fixture: Fixture, pipe: string, expected: string | number) =>
  eventually(async () => (await wordOf(fixture, pipe)) === expected, `${pipe} says ${expected}`)

const logs = (fixture: Fixture, pattern: RegExp) =>
  eventually(() => pattern.test(fixture.gateway.log()), `the log has ${pattern}`)

test('reload: a folder is picked up, changed, broken, mended and removed while the gateway runs', async (t) => {
  const fixture = await openPluginFixture({})
  t.teardown(fixture.close)
  const { plugins } = fixture
  t.is(await wordOf(fixture, 'fresh'), 400)

  plugins.put('fresh/word.ts', word('one'))
  plugins.put('fresh/index.ts', spoken('fresh'))
  await says(fixture, 'fresh', 'one')
  await logs(fixture, /"plugin":"fresh".*plugin\.installed/)

  plugins.put('fresh/word.ts', word('two'))
  await says(fixture, 'fresh', 'two')
  await logs(fixture, /"word":"one".*fresh\.closed/)

  plugins.put('fresh/word.ts', 'export const word = ')
  await logs(fixture, /"plugin":"fresh".*"kept":true.*plugin\.broken/)
  t.is(await wordOf(fixture, 'fresh'), 'two')

  plugins.put('fresh/word.ts', word('three'))
  await says(fixture, 'fresh', 'three')

  plugins.remove('fresh')
  await says(fixture, 'fresh', 400)
  await logs(fixture, /"plugin":"fresh".*plugin\.removed/)
})

test('reload: a change in a folder inside the plugin counts', async (t) => {
  const fixture = await openPluginFixture({
    'deep/index.ts': spoken('deep').replace('./word.ts', './parts/word.ts'),
    'deep/parts/word.ts': word('one'),
  })
  t.teardown(fixture.close)
  t.is(await wordOf(fixture, 'deep'), 'one')
  fixture.plugins.put('deep/parts/word.ts', word('two'))
  await says(fixture, 'deep', 'two')
})

test('reload: a request that runs in the old version ends in it', async (t) => {
  const gate = Promise.withResolvers<void>()
  const fixture = await openPluginFixture({ 'slow/index.ts': spoken('slow'), 'slow/word.ts': word('one') })
  t.teardown(fixture.close)
  const scenario = fixture.scenario({ kind: 'answer', before: { until: gate.promise } })
  const running = scenario.send({ body: ask('hi'), headers: { 'x-svc-pipe': 'slow' } })
  await fixture.provider.until(() => scenario.seen().length === 1)
  fixture.plugins.put('slow/word.ts', word('two'))
  await says(fixture, 'slow', 'two')
  t.notRegex(fixture.gateway.log(), /slow\.closed/)
  gate.resolve()
  t.is((await running).headers['x-word'], 'one')
  await logs(fixture, /"word":"one".*slow\.closed/)
})

test('reload: a plugin whose stream runs in the old version is closed when that has ended', async (t) => {
  const gate = Promise.withResolvers<void>()
  const fixture = await openPluginFixture({ 'tap/index.ts': spoken('tap'), 'tap/word.ts': word('one') })
  t.teardown(fixture.close)
  const scenario = fixture.scenario({ kind: 'answer', text: 'one two three', writes: holdEvent(2, gate.promise) })
  const begun = Promise.withResolvers<void>()
  const body = ask('hi', { stream: true })
  const running = scenario.send({ body, headers: { 'x-svc-pipe': 'tap' }, onHeaders: () => begun.resolve() })
  await begun.promise
  fixture.plugins.put('tap/word.ts', word('two'))
  await says(fixture, 'tap', 'two')
  await logs(fixture, /"plugin":"tap".*plugin\.reloaded/)
  t.notRegex(fixture.gateway.log(), /tap\.closed/)
  gate.resolve()
  t.true((await running).endedCleanly)
  await logs(fixture, /"word":"one".*tap\.closed/)
})

/** A plugin that leaves work for later with each request, and cannot do it once it is closed. */
const noter = (word: string) =>
  pluginSource('noter', {
    needs: ['log', 'later'],
    setup: 'let isClosed = false',
    run: `ctx.set('x-word', '${word}'); await next(); services.later(() => services.log.info({ isClosed }, 'noter.${word}'))`,
    close: 'isClosed = true',
  })

test('reload: a plugin does what it has left for later before it is closed', async (t) => {
  const gate = Promise.withResolvers<void>()
  const fixture = await openPluginFixture({ 'noter/index.ts': noter('one') })
  t.teardown(fixture.close)
  const scenario = fixture.scenario({ kind: 'answer', before: { until: gate.promise } })
  const running = scenario.send({ body: ask('hi'), headers: { 'x-svc-pipe': 'noter' } })
  await fixture.provider.until(() => scenario.seen().length === 1)
  fixture.plugins.put('noter/index.ts', noter('two'))
  await says(fixture, 'noter', 'two')
  gate.resolve()
  await running
  await logs(fixture, /"isClosed":false.*noter\.one/)

  t.is(await wordOf(fixture, 'noter'), 'two')
  await fixture.gateway.stop()
  t.is(fixture.gateway.log().match(/"isClosed":false[^\n]*noter\.two/g)?.length, 2)
  t.notRegex(fixture.gateway.log(), /"isClosed":true/)
})

test('reload: a module that the operator’s pipeline needs is kept when its folder goes', async (t) => {
  const fixture = await openPluginFixture(
    { 'needed/index.ts': spoken('needed'), 'needed/word.ts': word('one') },
    { env: { SVC_PIPELINE: 'needed' } },
  )
  t.teardown(fixture.close)
  fixture.plugins.remove('needed')
  await logs(fixture, /"plugin":"needed".*plugin\.kept/)
  t.is(await wordOf(fixture, 'needed'), 'one')
})

test('reload: with watching switched off nothing changes', async (t) => {
  const files = { 'still/index.ts': spoken('still'), 'still/word.ts': word('one') }
  const switchedOff = { config: { plugins: { watch: false } } }
  const [watching, resting] = await Promise.all([openPluginFixture({}), openPluginFixture(files, switchedOff)])
  t.teardown(watching.close)
  t.teardown(resting.close)
  for (const { plugins } of [resting, watching]) {
    plugins.put('still/word.ts', word('two'))
    plugins.put('still/index.ts', spoken('still'))
    plugins.put('late/index.ts', pluginSource('late'))
  }
  // When the gateway that watches has it, one that watched as well would have had the time.
  await says(watching, 'still', 'two')
  t.is(await wordOf(resting, 'still'), 'one')
  t.is(await wordOf(resting, 'late'), 400)
})

test('reload: what is saved in two steps serves when it is whole, and never half of it', async (t) => {
  const whole = (text: string) =>
    pluginSource('pieces', { onError: 'refuse', run: `ctx.set('x-word', '${text}'); await next()` })
  const half = pluginSource('pieces', { onError: 'refuse', run: `throw new Error('half of it')` })
  const fixture = await openPluginFixture({ 'pieces/index.ts': whole('zero') })
  t.teardown(fixture.close)
  for (let save = 1; ; save++) {
    const savedAtMs = performance.now()
    fixture.plugins.put('pieces/index.ts', half)
    await sleep(BETWEEN_STEPS_MS)
    fixture.plugins.put('pieces/index.ts', whole(String(save)))
    const isSlow = performance.now() - savedAtMs > 1.5 * BETWEEN_STEPS_MS
    const heard = new Set<string | number>()
    await eventually(async () => {
      const word = await wordOf(fixture, 'pieces')
      heard.add(word)
      return word === String(save)
    }, `save ${save} serves`)
    // On a machine that is busy the steps may be as far from each other as two saves.
    if (isSlow && save < 5) continue
    t.false(heard.has(503), [...heard].join())
    return
  }
})

test('reload: a version that fails while it is being saved raises no alarm', async (t) => {
  const fixture = await openPluginFixture({ 'saved/index.ts': spoken('saved'), 'saved/word.ts': word('one') })
  t.teardown(fixture.close)
  const save = `;(await import('node:fs')).writeFileSync(import.meta.filename, ${JSON.stringify(word('whole'))})`
  fixture.plugins.put('saved/word.ts', `${word('half')}\n${save}\nthrow new Error('read in part')`)
  await says(fixture, 'saved', 'whole')
  t.notRegex(fixture.gateway.log(), /plugin\.broken/)
})

test('reload: a folder that was deleted and made again is watched again', async (t) => {
  const fixture = await openPluginFixture({ 'back/index.ts': spoken('back'), 'back/word.ts': word('one') })
  t.teardown(fixture.close)
  const { plugins } = fixture
  for (const [before, after] of [
    ['two', 'three'],
    ['four', 'five'],
  ] as const) {
    plugins.remove('back')
    await says(fixture, 'back', 400)
    plugins.put('back/word.ts', word(before))
    plugins.put('back/index.ts', spoken('back'))
    await says(fixture, 'back', before)
    plugins.put('back/word.ts', word(after))
    await says(fixture, 'back', after)
    t.is(await wordOf(fixture, 'back'), after)
  }
})

test('reload: a folder that is replaced at once is watched again', async (t) => {
  const fixture = await openPluginFixture({ 'swap/index.ts': spoken('swap'), 'swap/word.ts': word('one') })
  t.teardown(fixture.close)
  const { plugins } = fixture
  plugins.remove('swap')
  plugins.put('swap/word.ts', word('two'))
  plugins.put('swap/index.ts', spoken('swap'))
  await says(fixture, 'swap', 'two')
  plugins.put('swap/word.ts', word('three'))
  await says(fixture, 'swap', 'three')
  t.is(await wordOf(fixture, 'swap'), 'three')
})

/** Faults of a save, whichever of the files they are in; `name` is that of the plugin. */
const BROKEN: Readonly<Record<string, (name: string) => Readonly<Record<string, string | undefined>>>> = {
  'no entry file': () => ({ 'index.ts': undefined }),
  'an empty entry file': () => ({ 'index.ts': '' }),
  'an entry file cut in the middle': (name) => ({ 'index.ts': spoken(name).slice(0, 200) }),
  'a syntax error in another of its files': () => ({ 'word.ts': 'export const word = `one' }),
  'another of its files without its export': () => ({ 'word.ts': '// not written yet' }),
  'another of its files empty': () => ({ 'word.ts': '' }),
  'an import of a file that is not there yet': () => ({ 'word.ts': `export { word } from './later.ts'` }),
  'a broken file behind a sound one': () => ({
    'word.ts': `export { word } from './later.ts'`,
    'later.ts': 'export',
  }),
  'an entry file that throws': (name) => ({ 'index.ts': `throw new Error('not yet')\n${spoken(name)}` }),
  'a setup that throws': (name) => ({ 'index.ts': pluginSource(name, { setup: `throw new Error('not yet')` }) }),
  'a setup without a middleware': (name) => ({ 'index.ts': spoken(name).replace('middleware:', 'middle:') }),
  'another name': () => ({ 'index.ts': spoken('other') }),
  'options that its configuration does not fit': (name) => ({
    'index.ts': spoken(name).replace('z.strictObject({  })', 'z.strictObject({ must: z.string() })'),
  }),
}

test('reload: no version that fails to load replaces one that works, and the next sound one does', async (t) => {
  const cases = Object.entries(BROKEN).map(([fault, save], index) => ({ fault, save, name: `kept-${index}` }))
  const sound = cases.flatMap(({ name }) => [
    [`${name}/index.ts`, spoken(name)],
    [`${name}/word.ts`, word('one')],
  ])
  const fixture = await openPluginFixture(Object.fromEntries(sound))
  t.teardown(fixture.close)
  for (const { name, save } of cases)
    for (const [file, text] of Object.entries(save(name)))
      if (text === undefined) fixture.plugins.remove(`${name}/${file}`)
      else fixture.plugins.put(`${name}/${file}`, text)
  for (const { fault, name } of cases) {
    const pattern = new RegExp(`"plugin":"${name}".*"plugin\\.broken"`)
    await eventually(() => pattern.test(fixture.gateway.log()), `${fault} is reported`)
    t.is(await wordOf(fixture, name), 'one', fault)
  }
  for (const { name } of cases) {
    fixture.plugins.put(`${name}/index.ts`, spoken(name))
    fixture.plugins.put(`${name}/word.ts`, word('two'))
  }
  for (const { name } of cases) await says(fixture, name, 'two')
})
