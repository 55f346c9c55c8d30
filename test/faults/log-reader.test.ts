import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'ava'

test('log: a gateway whose log is no longer read still stops', async (t) => {
  const gateway = spawn(process.execPath, ['bin/turnpike.mjs', 'start'], {
    env: { PATH: process.env.PATH, PORT: '0', HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => gateway.kill('SIGKILL'))
  await once(gateway.stdout, 'data')
  gateway.stdout.destroy()
  gateway.kill('SIGTERM')
  const [code] = await once(gateway, 'exit')
  t.is(code, 0)
})
