/**
 * Loaded by Node before AVA, in its process, by `npm run tests`. Test files run in threads that are kept (`kept-threads.mjs`).
 * And AVA copies the counts of all files at each event of each test, which is 20 s of CPU for 7,500 tests in 550 files: its
 * reporter only reads them, and the newest are as good.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'

const COPY = 'v8.deserialize(v8.serialize(stats))'
const KEPT_THREADS = new URL('kept-threads.mjs', import.meta.url).href

if (isMainThread) {
  process.env.TURNPIKE_TEST_SPAWNER = await startSpawner()
  registerHooks({
    resolve(specifier, context, next) {
      const isOfFork = specifier === 'node:worker_threads' && context.parentURL?.endsWith('/ava/lib/fork.js')
      return isOfFork ? { url: KEPT_THREADS, format: 'module', shortCircuit: true } : next(specifier, context)
    },
    load(url, context, next) {
      const loaded = next(url, context)
      if (!url.endsWith('/ava/lib/run-status.js')) return loaded
      const text = String(loaded.source)
      if (!text.includes(COPY))
        throw new Error(`Expected \`${COPY}\` in AVA's run-status.js: adapt or remove this file`)
      return { ...loaded, source: text.replace(COPY, 'stats') }
    },
  })
}

/** Starts the process that starts others, and returns its address. */
async function startSpawner() {
  const name = `turnpike-spawner-${process.pid}`
  const address = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : path.join(tmpdir(), name)
  const program = fileURLToPath(new URL('spawner.mjs', import.meta.url))
  // Of no group that is ended with the tests: it ends what they leave behind.
  const spawner = spawn(process.execPath, [program, address], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  await once(spawner.stdout, 'data')
  for (const each of [spawner, spawner.stdin, spawner.stdout]) each.unref()
  return address
}
