/**
 * Starts processes for the threads of tests. These share a process of gigabytes: each start from it would copy its page
 * tables, and then every page that a thread writes to would fault. Started by `ava-process.mjs`, used by
 * `start-process.ts`; it ends with its standard input, and all that it has started with it.
 *
 * A connection to the socket is a process, its messages are JSON, a line each:
 *   to this:   { command, words, cwd, env, detached }     what to start, first
 *   from this: { pid } or { error: { code, message } }, { stdout } and { stderr } in base64, { exit: { code, signal } },
 *              and { closed: { code, signal } } when all output was sent
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'

/** Processes that have not ended, by whether each leads a group. */
const running = new Map()

const server = createServer((socket) => {
  const send = (message) => socket.writable && socket.write(`${JSON.stringify(message)}\n`)
  const lines = createInterface({ input: socket })
  for (const each of [socket, lines]) each.on('error', () => {}) // its thread has ended
  lines.once('line', (line) => {
    const { command, words, ...options } = JSON.parse(line)
    const child = spawn(command, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    child.once('error', ({ code, message }) => {
      send({ error: { code, message } })
      socket.end()
    })
    if (child.pid === undefined) return
    running.set(child, options.detached === true)
    send({ pid: child.pid })
    for (const name of ['stdout', 'stderr'])
      child[name].on('data', (/** @type {Buffer} */ piece) => send({ [name]: piece.toString('base64') }))
    child.once('exit', (code, signal) => {
      running.delete(child)
      send({ exit: { code, signal } })
    })
    child.once('close', (code, signal) => {
      send({ closed: { code, signal } })
      socket.end()
    })
  })
})

process.stdin.resume().once('end', () => {
  for (const [{ pid }, isLeader] of running) kill(isLeader ? -pid : pid)
  server.close() // which removes its file
  process.exit()
})
server.listen(process.argv[2], () => process.stdout.write('listening\n'))

/** @param {number} pid */
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
