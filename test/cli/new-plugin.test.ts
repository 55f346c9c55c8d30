import { existsSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { runCommand } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { ask, send } from '../support/http-client.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

test('cli: a new plugin passes its check and its test, and the gateway runs it', async (t) => {
  const plugins = createPluginDirectory(t)
  const env = { SVC_CONFIG: plugins.put('turnpike.yaml', ''), SVC_PLUGINS_DIR: plugins.path }
  const folder = path.join(plugins.path, 'my-first')
  const made = await runCommandInThread(['plugin', 'new', 'my-first'], { env })
  t.is(made.code, 0, made.stderr)
  t.regex(made.stdout, /x-svc-pipe: my-first/)
  for (const file of ['index.ts', 'test.ts', 'README.md']) t.true(existsSync(path.join(folder, file)), file)

  const [checked, tested, again, gateway] = await Promise.all([
    runCommandInThread(['plugin', 'check', folder], { env }),
    runCommand(['plugin', 'test', folder], { env }),
    runCommandInThread(['plugin', 'new', 'my-first'], { env }),
    startGateway({ ...env, SVC_PIPELINE: 'none', ANTHROPIC_API_KEY: '' }),
  ])
  t.teardown(gateway.stop)
  t.is(checked.code, 0, checked.stderr)
  t.is(tested.code, 0, tested.stdout)
  t.regex(tested.stdout, /pass 1\b/)
  t.is(again.code, 1)
  t.regex(again.stderr, /exists already/)

  const body = ask('hi', { model: 'demo/echo' })
  const reply = await send(gateway.url, { body, headers: { 'x-svc-pipe': 'my-first?word=hello' } })
  t.is(reply.status, 200, reply.text)
  t.is(reply.headers['x-my-first'], 'hello')
})

test('cli: plugin new --dir writes to that folder, and plugin test fails with a failing test', async (t) => {
  const place = createPluginDirectory(t)
  const env = { SVC_CONFIG: place.put('turnpike.yaml', '') }
  t.is((await runCommandInThread(['plugin', 'new', 'elsewhere', '--dir', place.path], { env })).code, 0)
  place.put(
    'elsewhere/more.test.ts',
    `import test from 'node:test'\ntest('fails', () => { throw new Error('as expected') })`,
  )
  const { code, stdout } = await runCommand(['plugin', 'test', path.join(place.path, 'elsewhere')], { env })
  t.is(code, 1)
  t.regex(stdout, /as expected/)
  t.regex(stdout, /pass 1\b/)
})
