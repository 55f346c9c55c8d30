/**
 * DESIGN. Threads that run one test file after another. A new thread for each of 560 files costs a tenth of a second before
 * its first test, and a third where the file has a gateway: Node's start, AVA, and the gateway's modules, which are compiled
 * anew and never warm.
 *
 *   AVA ─ new Worker ─▶ FileRun ─ file, port ─▶ a thread that rests, or a new one ─▶ kept-thread.mjs
 *        ◀─ messages, output, exit ─┘           ◀─ ended: rests ─┘
 *
 * Guarantees: files never run beside each other in a thread; a thread that has ended, or was ended by AVA, runs no further
 * file. Modules of tests are a file's own (`bundled-sources.mjs`); those of the gateway and of packages are the thread's.
 * Takes the place of `node:worker_threads` in AVA's `fork.js`.
 */
import { EventEmitter, once } from 'node:events'
import process from 'node:process'
import { MessageChannel, Worker as Thread } from 'node:worker_threads'

const KEPT_THREAD = new URL('kept-thread.mjs', import.meta.url)
/** A thread ends after so many files, as it keeps their modules. */
const MOST_FILES = 30
/** A thread that rests for so long has no more files to run. In milliseconds. */
const LONGEST_REST_MS = 500
/** Files beside the modules get those from the sources, files in `test` from a bundle (`bundled-sources.mjs`). */
const FROM_BUNDLE = /[\\/]test[\\/]/

/** Files that get a thread of their own: they change the gateway's modules, or look at all that the thread holds. */
const ALONE = /[\\/]test[\\/](soak[\\/]|semantic-cache[\\/]no-graph|support[\\/]gateway\.)/

/** Runs that have not ended. */
const running = new Set()
process.once('exit', () => {
  if (running.size === 0) return
  console.error(`✗ ${running.size} test files had not ended: their threads were lost.`)
  process.exitCode = 1
})

/** Threads that rest, by what their modules come from. */
const resting = { bundle: [], sources: [] }

/** A thread, with the run of the file that it has now. */
class KeptThread {
  files = 0
  run = undefined

  constructor(options, kind) {
    this.kind = kind
    this.thread = new Thread(KEPT_THREAD, options)
    for (const name of ['stdout', 'stderr'])
      this.thread[name].on('data', (chunk) => this.run?.[name].emit('data', chunk))
    this.thread.on('error', (error) => this.run?.emit('error', error))
    this.thread.once('exit', (code) => {
      clearTimeout(this.rested)
      this.leave()
      this.run?.threadEnded(code)
    })
  }

  begin(run, message, port) {
    this.run = run
    this.files++
    clearTimeout(this.rested)
    this.thread.postMessage(message, [port])
  }

  rest() {
    this.run = undefined
    if (this.files >= MOST_FILES) return this.end()
    resting[this.kind].push(this)
    this.rested = setTimeout(() => this.end(), LONGEST_REST_MS)
  }

  /** Ends by itself, so that its exit handlers end what its files have started. */
  end() {
    this.leave()
    this.thread.postMessage({ end: true })
  }

  leave() {
    const threads = resting[this.kind]
    if (threads.includes(this)) threads.splice(threads.indexOf(this), 1)
  }
}

/** One file's run, with what AVA uses of a worker. */
export class Worker extends EventEmitter {
  stdout = new EventEmitter()
  stderr = new EventEmitter()
  #kept
  #port
  #closed

  constructor(base, { workerData, ...options }) {
    super()
    // biome-ignore lint/correctness/noConstructorReturn: this file gets what AVA has asked for
    if (ALONE.test(workerData.options.file)) return new Thread(base, { workerData, ...options })
    const kind = FROM_BUNDLE.test(workerData.options.file) ? 'bundle' : 'sources'
    const { port1, port2 } = new MessageChannel()
    running.add(this)
    this.once('exit', () => running.delete(this))
    this.#kept = resting[kind].pop() ?? new KeptThread(options, kind)
    this.#port = port1
    this.#closed = once(port1, 'close')
    this.threadId = this.#kept.thread.threadId
    port1.on('message', (message) => (message.ended ? this.#ended() : this.emit('message', message)))
    this.#kept.begin(this, { base: base.href, workerData, port: port2 }, port2)
  }

  postMessage(message) {
    this.#port.postMessage(message)
  }

  async terminate() {
    if (running.has(this)) await this.#kept.thread.terminate()
  }

  #ended() {
    this.#port.close()
    this.#kept.rest()
    this.emit('exit', 0)
  }

  /** Emits the end when all messages from before it have been. */
  async threadEnded(code) {
    await this.#closed
    this.emit('exit', code)
  }
}
