import { once } from 'node:events'
import { tmpdir } from 'node:os'
import test from 'ava'
import { runProcess, startProcess } from './start-process.ts'

const node = (code: string, words: readonly string[] = []) => ['-e', code, ...words]
const longestMs = 30_000

test('start process: output, code, working directory and environment are those of a child', async (t) => {
  const code = `console.log(process.cwd(), process.argv[1], JSON.stringify(process.env.ONLY), process.env.HOME)
    console.error('é'.repeat(100_000)); process.exitCode = 3`
  const options = { cwd: tmpdir(), env: { ONLY: 'this "one"\n' }, longestMs }
  const ended = await runProcess(process.execPath, node(code, ['a word']), options)
  t.is(ended.code, 3)
  t.is(ended.stdout, `${tmpdir()} a word "this \\"one\\"\\n" undefined\n`)
  t.is(ended.stderr, `${'é'.repeat(100_000)}\n`)
})

test('start process: one that ends at once is heard by who listens after its start', async (t) => {
  const child = await startProcess('true', [])
  t.deepEqual(await once(child, 'exit'), [0, null])
})

test('start process: one that cannot be started fails with its reason, and has no id', async (t) => {
  const child = await startProcess('no-such-program', [])
  t.is(child.pid, undefined)
  t.like(await new Promise((resolve) => child.once('error', resolve)), { code: 'ENOENT' })
  t.is((await runProcess('no-such-program', [], { longestMs })).code, null)
})

test('start process: it can lead a group, which a signal ends', async (t) => {
  const child = await startProcess('sh', ['-c', 'echo $$; sleep 60 & wait'], { detached: true })
  const pid = Number(await once(child.stdout, 'data'))
  t.is(child.pid, pid)
  process.kill(-pid, 'SIGKILL')
  t.deepEqual(await once(child, 'close'), [null, 'SIGKILL'])
})

test('start process: one that takes too long is ended', async (t) => {
  t.is((await runProcess('sleep', ['60'], { longestMs: 50 })).code, null)
})
