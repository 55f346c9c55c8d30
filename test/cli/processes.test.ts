import path from 'node:path'
import test from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { runCommand } from '../support/command-line.ts'
import { isDrill } from '../support/drill.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

/*
 * Most tests of commands run them in their own thread (`runCommandInThread`). Here one command of each family ends by
 * itself, with the same code: in the drill as a process, in `npm test` most in the thread, where what they leave open fails.
 */

const place = createPluginDirectory({ teardown: test.after.always })
const NO_GATEWAY = ['--url', 'http://127.0.0.1:9']
const DONE = 0
const USAGE = 2
const NOT_FOUND = 66
const UNAVAILABLE = 69
const NOT_CONFIGURED = 78

/** Arguments and exit code, by family. */
const COMMANDS: Readonly<Record<string, readonly [words: readonly string[], code: number]>> = {
  start: [['--help'], DONE],
  doctor: [['--offline'], DONE],
  tail: [NO_GATEWAY, UNAVAILABLE],
  replay: [['req_1', ...NO_GATEWAY], UNAVAILABLE],
  pipeline: [['explain'], DONE],
  plugin: [['list'], DONE],
  config: [[], DONE],
  migrate: [[], DONE],
  backup: [[path.join(place.path, 'copy.db')], DONE],
  prices: [['claude-sonnet-4-5'], DONE],
  ledger: [['head'], NOT_FOUND],
  receipt: [['verify', path.join(place.path, 'none')], USAGE],
  login: [['http://127.0.0.1:9'], UNAVAILABLE],
  logout: [['http://127.0.0.1:9'], DONE],
  'session-token': [['--user', 'ada'], DONE],
  account: [['suspend', 'mallory'], NOT_FOUND],
  person: [['show', 'mallory'], NOT_FOUND],
  team: [['list'], DONE],
  key: [['list'], DONE],
  tag: [['list'], DONE],
  audit: [[], DONE],
  alert: [['test', 'ops'], NOT_FOUND],
  stripe: [['setup'], NOT_CONFIGURED],
  mpp: [['report'], DONE],
  patterns: [['list'], DONE],
  cache: [['stats'], DONE],
  codex: [[], DONE],
  conversation: [['raise', 'conv_1', '--by', '1', ...NO_GATEWAY], UNAVAILABLE],
}

const env = {
  SVC_CONFIG: place.put('turnpike.yaml', ''),
  SVC_DATA_DIR: path.join(place.path, 'data'),
  XDG_CONFIG_HOME: path.join(place.path, 'config'),
  SVC_SESSION_SECRET: 'a-secret-of-at-least-32-characters',
}

test.before('create the tables', async (t) => {
  t.is((await runCommandInThread(['migrate'], { env })).code, 0)
})

/** A family of each kind: a gateway's, a client's, one with a thread, one with a database, one of a plugin. */
const AS_PROCESSES = isDrill ? Object.keys(COMMANDS) : ['start', 'tail', 'pipeline', 'backup', 'patterns']

for (const [family, [words, expected]] of Object.entries(COMMANDS))
  test(`process: turnpike ${family} ends by itself`, async (t) => {
    const run = AS_PROCESSES.includes(family) ? runCommand : runCommandInThread
    const { code, stdout, stderr } = await run([family, ...words], { env })
    t.is(code, expected, stdout + stderr)
  })

test('process: every family of commands is here', async (t) => {
  const { stdout } = await runCommandInThread(['--help'], { env })
  const [, list = ''] = stdout.split('Commands:')
  const families = [...list.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name)
  t.deepEqual(
    Object.keys(COMMANDS).sort(),
    families.filter((name) => name !== 'help' && !/^\d/.test(name ?? '')).sort(),
  )
})

test('process: no parser is compiled for a configuration and the options of plugins, which are read once', async (t) => {
  const counter = `
    const { Function: Native } = globalThis
    let compiled = 0
    globalThis.Function = new Proxy(Native, { construct: (target, words) => (compiled += words.length > 1, new target(...words)) })
    process.once('exit', () => console.error('parsers compiled: ' + compiled))`
  const options = `--import=data:text/javascript,${encodeURIComponent(counter)}`
  const { stdout, stderr } = await runCommand(['pipeline', 'explain'], { env: { ...env, NODE_OPTIONS: options } })
  t.regex(stdout, /cost-guard/)
  t.is(stderr, 'parsers compiled: 0\n')
})
