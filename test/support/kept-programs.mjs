/**
 * DESIGN. Threads that run one database program after another, for the gateways of a test file: a run of the tests opens a
 * thousand SQLite databases, each in a thread that costs 80 ms to start. Takes the place of `node:worker_threads` in the
 * gateway's modules (`bundled-sources.mjs`); other programs have threads of their own.
 *
 *   ThreadHost ─ new Worker ─▶ Program ─ program, port ─▶ a thread that rests, or a new one ─▶ kept-thread.mjs
 *              ◀─ messages, exit ─┘                       ◀─ has closed its port: rests ─┘
 *
 * Guarantees: one program at a time in a thread; one that is terminated, or ends by an error, takes its thread along.
 */
import { EventEmitter, once } from 'node:events'
import { MessageChannel, Worker as Thread } from 'node:worker_threads'

export * from 'node:worker_threads'

const KEPT_THREAD = new URL('kept-thread.mjs', import.meta.url)
/** Programs that release all they have before they close their port. */
const KEPT = /\/src\/stores\/sql\/sqlite\/worker\.m?[jt]s$/
/** Threads that rest; more than so many end. */
const MOST_RESTING = 6
const resting = []

/** A thread, with the program that it runs now. */
function startThread() {
  const thread = new Thread(KEPT_THREAD)
  const kept = { thread, program: undefined }
  thread.on('error', (error) => kept.program?.emit('error', error))
  thread.on('message', () => void rest(kept))
  thread.once('exit', (code) => {
    if (resting.includes(kept)) resting.splice(resting.indexOf(kept), 1)
    void kept.program?.end(code)
  })
  // The program's port keeps the process, as long as its host wants; after the listeners, of which one would keep it, too.
  thread.unref()
  return kept
}

async function rest(kept) {
  const { program } = kept
  kept.program = undefined
  if (resting.length < MOST_RESTING) resting.push(kept)
  else kept.thread.postMessage({ end: true })
  await program.end(0)
}

/** One program's run, with what `ThreadHost` uses of a worker. */
export class Worker extends EventEmitter {
  #kept
  #port
  #closed

  constructor(program, options) {
    super()
    // biome-ignore lint/correctness/noConstructorReturn: other programs get a real worker
    if (!KEPT.test(String(program))) return new Thread(program, options)
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#closed = once(port1, 'close')
    port1.on('message', (message) => this.emit('message', message))
    this.#kept = resting.pop() ?? startThread()
    this.#kept.program = this
    this.#kept.thread.postMessage({ program: program.href, workerData: options.workerData, port: port2 }, [port2])
  }

  postMessage(message) {
    this.#port.postMessage(message)
  }

  ref() {
    this.#port.ref()
  }

  unref() {
    this.#port.unref()
  }

  async terminate() {
    if (this.#kept.program === this) await this.#kept.thread.terminate()
  }

  /** Emits the end when all messages from before it have been. */
  async end(code) {
    this.#port.ref()
    await this.#closed
    this.emit('exit', code)
  }
}
