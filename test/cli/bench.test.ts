import { readFileSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runCommand } from '../support/command-line.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

/** It starts a gateway and two other processes. */
const LONGEST_MS = 170_000
const SECRET = 'sk-ant-of-the-user'

/** A plugin that asks a service elsewhere for each request, and writes down what came of it. */
const ASKER = `
import { writeFileSync } from 'node:fs'
import { definePlugin, z } from 'turnpike/plugin'
export default definePlugin({
  name: 'asker', summary: 'Asks elsewhere.', perRequest: [], needs: [], onError: 'bypass',
  options: z.strictObject({ file: z.string(), url: z.string() }),
  setup: ({ file, url }) => ({
    middleware: () => async function asker(ctx, next) {
      const came = await fetch(url).then(() => 'an answer', (error) => error.cause?.message)
      writeFileSync(file, came + ' with ' + JSON.stringify(process.env))
      await next()
    },
  }),
})`

/** Measures with a user’s plugin, whose service cannot be had, and a database that is not there. */
async function bench(t: ExecutionContext, args: readonly string[]) {
  const folder = createPluginDirectory(t, { 'asker/index.ts': ASKER })
  const told = path.join(folder.path, 'told')
  const asker = { file: told, url: 'https://api.paid.example/v1' }
  const file = folder.put(
    'turnpike.yaml',
    JSON.stringify({
      pipeline: { default: 'asker,cost-guard', locked: ['cost-guard'] },
      plugins: { asker },
      costs: { per_day: 0.000001 },
      database_url: 'postgres://127.0.0.1:1/of-the-user',
    }),
  )
  const env = { SVC_CONFIG: file, SVC_PLUGINS_DIR: folder.path, ANTHROPIC_API_KEY: SECRET, TMPDIR: folder.path }
  return {
    ...(await runCommand(['bench', ...args], { env, longestMs: LONGEST_MS })),
    told: () => readFileSync(told, 'utf8'),
  }
}

test('bench: measures the configured pipeline beside the direct line, and reaches nobody else', async (t) => {
  const { code, stdout, stderr, told } = await bench(t, ['-r', '20', '-c', '2', '--stream', '--json'])
  t.is(code, 0, stderr)
  const result = parseJson(stdout)
  t.is(valueAt(result, 'pipeline'), 'asker,cost-guard')
  for (const line of ['direct', 'gateway']) {
    t.is(valueAt(result, `${line}.requests`), 20)
    const [first, whole] = ['firstByteMs', 'totalMs'].map((name) => Number(valueAt(result, `${line}.${name}.p50`)))
    t.true(first! > 0 && whole! >= first!, line)
  }
  t.true(Number(valueAt(result, 'gateway.cpuMicrosecondsPerRequest')) > 0)
  t.regex(told(), /^turnpike bench asks nobody else: api\.paid\.example with /)
  t.false(told().includes(SECRET))
})

test('bench: tells a person what was measured', async (t) => {
  const { code, stdout, stderr } = await bench(t, ['-r', '20', '--same', '--pipeline', 'exact-cache'])
  t.is(code, 0, stderr)
  t.regex(stdout, /^pipeline {2}exact-cache,cost-guard\nload {6}20 × the same request of 1024 bytes, 8 at a time$/m)
  t.regex(stdout, /^reply, p99 +\d+\.\d\d ms +\d+\.\d\d ms +[+-]\d+\.\d\d ms$/m)
  t.regex(stdout, /^CPU per request +\d+ µs$/m)
})

test('bench: a pipeline that cannot run is told in the gateway’s own words', async (t) => {
  const { code, stdout, stderr } = await bench(t, ['--pipeline', 'exact-cahce'])
  t.is(code, 1)
  t.is(stdout, '')
  t.regex(stderr, /has ended:\n.*`exact-cahce`.*Did you mean `exact-cache`/)
})
