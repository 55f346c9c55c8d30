/**
 * Runs test files in a thread, one after another, each with a copy of AVA's part of a thread (`scripts/one-file-packages.mjs`).
 * Between two, everything of the process that AVA or a file has changed is as before: the environment, `process.exit`, and
 * listeners for errors. Or runs programs of the gateway, one after another. See `kept-threads.mjs` and `kept-programs.mjs`.
 */
import process from 'node:process'
import { parentPort } from 'node:worker_threads'

const FILE_RUN = Symbol.for('turnpike.file-run')
/** Events whose listeners are AVA's and end with a file. */
const EVENTS = ['beforeExit', 'rejectionHandled', 'uncaughtException', 'unhandledRejection']
const { exit } = process
let files = 0

parentPort?.on('message', async ({ end, base, program, ...run }) => {
  if (end) return exit(0)
  if (program !== undefined) return runProgram(program, run)
  const { workerData, port } = run
  // A rejection after the end of its file fails no other file.
  if (files === 0) process.on('unhandledRejection', () => {})
  const restore = remember()
  const number = ++files
  const ended = () => {
    restore()
    port.postMessage({ ended: true })
  }
  Object.assign(globalThis, { [FILE_RUN]: { number, workerData, parentPort: port, end: ended } })
  await import(`${base}?file=${number}`)
})

/** Runs a program of the gateway until it has closed its port, or cannot begin and listens to nothing. */
async function runProgram(program, { workerData, port }) {
  Object.assign(globalThis, { [FILE_RUN]: { workerData, parentPort: port } })
  port.once('close', () => parentPort?.postMessage({ rests: true }))
  await import(`${program}?program=${++files}`)
  if (port.listenerCount('message') === 0) port.close()
}

/** Returns a function that restores what files change of their process. */
function remember() {
  const environment = { ...process.env }
  const listeners = EVENTS.map((event) => [event, process.rawListeners(event)])
  return () => {
    process.exit = exit
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
    Object.assign(process.env, environment)
    for (const [event, kept] of listeners)
      for (const listener of process.rawListeners(event)) if (!kept.includes(listener)) process.off(event, listener)
  }
}
