import test from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { runCommand } from '../support/command-line.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'

const PATTERN = `---
description: For tests.
match: {any: [{keywords: briefly}, {examples: [keep the answer short]}]}
tests: {should: [briefly please], should_not: [at length]}
---
Be brief.`

test('patterns list: lists the patterns, and those that cannot be used', async (t) => {
  const folder = createPluginDirectory(t, {
    'p/brief/PATTERN.md': PATTERN,
    'p/wrong/PATTERN.md': PATTERN.replace('at length', 'briefly at length'),
    'p/skill/SKILL.md': '---\nname: skill\ndescription: Skilful.\n---\nDo it.',
    'p/huge/system.md': 'word '.repeat(2000),
    'p/off/PATTERN.md': '---\nenabled: false\n---\nOff.',
  })
  const SVC_CONFIG = folder.put(
    'turnpike.yaml',
    JSON.stringify({ plugins: { patterns: { dirs: [`${folder.path}/p`] } } }),
  )
  const { code, stdout } = await runCommandInThread(['patterns', 'list'], { env: { SVC_CONFIG } })
  t.is(code, 0)
  t.regex(stdout, /^brief {2}when it matches, up to \d+ tokens\n {7}For tests\.$/m)
  t.regex(stdout, /^skill {2}when requested/m)
  t.regex(stdout, /^huge {3}never, being over max_tokens \(1500\), up to \d+ tokens/m)
  t.regex(stdout, /^off {4}disabled/m)
  t.regex(stdout, /^wrong {2}broken\n {7}its tests failed: `briefly at length` should not match, and does$/m)

  const tested = await runCommandInThread(['patterns', 'test'], { env: { SVC_CONFIG } })
  t.is(tested.code, 1)
  t.regex(tested.stdout, /✔ brief: 1 should match, 1 should not/)
  t.regex(tested.stdout, /✘ wrong: its tests failed/)
})

test('patterns test: the patterns that come with the gateway pass theirs', async (t) => {
  const { code, stdout } = await runCommandInThread(['patterns', 'test', '--json'], { env: { SVC_CONFIG: '' } })
  t.is(code, 0)
  const { passed, failed } = JSON.parse(stdout)
  t.deepEqual(failed, [])
  t.is(passed.length, 6)
  for (const { name, should, shouldNot } of passed) t.true(should >= 3 && shouldNot >= 3, name)
})

test('patterns try: shows the texts that would be injected, and near misses', async (t) => {
  const folder = createPluginDirectory(t, { 'p/brief/PATTERN.md': PATTERN })
  const SVC_CONFIG = folder.put(
    'turnpike.yaml',
    JSON.stringify({ plugins: { patterns: { dirs: [`${folder.path}/p`] } } }),
  )
  const found = await runCommandInThread(['patterns', 'try', 'Briefly: what is it?'], { env: { SVC_CONFIG } })
  t.regex(
    found.stdout,
    /^brief {2}score 1, user-append, up to \d+ tokens\n\n {2}<gateway-instructions name="brief">\n {2}Be brief\./,
  )
  const missed = await runCommandInThread(
    ['patterns', 'try', 'Is a short walk the answer to a long day in the office for most?'],
    { env: { SVC_CONFIG } },
  )
  t.regex(missed.stdout, /^Nothing would be injected\.\nbrief {2}does not match; its examples score 0\.\d+$/m)
})

test('cli: a dropped-in plugin may bring commands, and a broken one does not keep others from running', async (t) => {
  const commands = `commands: [{ name: 'say', summary: 'Says it.', argument: { name: 'what', description: 'words' },
    run: ({ argument, options, print }) => { print(options.word + ' ' + argument); return argument !== 'bad' } }],`
  const source = pluginSource('parrot', { options: `word: z.string().default('Polly:')` })
  const plugins = createPluginDirectory(t, {
    'parrot/index.ts': source.replace("onError: 'bypass',", `onError: 'bypass', ${commands}`),
    'broken/index.ts': 'export default 1 +',
  })
  const env = { SVC_PLUGINS_DIR: plugins.path }
  const good = await runCommandInThread(['parrot', 'say', 'hello'], { env })
  t.like(good, { code: 0, stdout: 'Polly: hello\n' })
  t.regex(good.stderr, /plugin\.broken \{"plugin":"broken"/)
  t.is((await runCommandInThread(['parrot', 'say', 'bad'], { env })).code, 1)
  t.regex((await runCommand(['--help'], { env })).stdout, /^ {2}parrot +A plugin of a test\.$/m)
})

test('cli: help does not need a configuration that can be used', async (t) => {
  const bad = createPluginDirectory(t, { 'turnpike.yaml': 'mode: nowhere' }).path
  for (const env of [{ SVC_CONFIG: `${bad}/turnpike.yaml` }, { SVC_PLUGINS_DIR: `${bad}/none` }]) {
    const { code, stdout } = await runCommandInThread(['--help'], { env })
    t.is(code, 0)
    t.regex(stdout, /^ {2}patterns /m)
  }
  t.is((await runCommandInThread(['patterns', 'list'], { env: { SVC_CONFIG: `${bad}/turnpike.yaml` } })).code, 78)
})
