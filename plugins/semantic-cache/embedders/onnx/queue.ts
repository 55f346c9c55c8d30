import { EmbedderFault } from '../../embedder.ts'

/** What a queue needs of a thread. */
export interface TextThread {
  readonly isAlive: boolean
  readonly isFree: boolean
  embed(text: string): Promise<Int8Array>
}

interface Waiting {
  readonly text: string
  readonly signal: AbortSignal
  readonly answer: PromiseWithResolvers<Int8Array>
}

/** Whatever texts take, so many are never kept. */
const MOST_WAITING = 256
/** How much the latest text tells of the speed. */
const WEIGHT_OF_NEWEST = 0.1

/**
 * DESIGN — texts that wait for a thread
 *
 *   embed ──► expected wait > limit? ──yes──► embedder-busy
 *                  │no
 *                  ▼
 *             [ text │ text │ … ] ──► the first thread that is free
 *
 * The wait is what stands before a text, in characters, times what a character has taken of late, shared by the threads
 * that live: a prompt of 500 tokens holds the queue up for as long as thirty short ones.
 */
export class TextQueue {
  readonly #threads: readonly TextThread[]
  readonly #longestWaitMs: number
  readonly #waiting: Waiting[] = []
  #msPerCharacter = 0
  /** Of all texts that wait or run. */
  #characters = 0

  constructor(threads: readonly TextThread[], longestWaitMs: number) {
    this.#threads = threads
    this.#longestWaitMs = longestWaitMs
  }

  /** What a character takes, in milliseconds, as a model's rehearsal has shown. */
  set msPerCharacter(value: number) {
    this.#msPerCharacter = value
  }

  /** Milliseconds until a text that came now would be begun. */
  get expectedWaitMs(): number {
    const alive = this.#threads.filter(({ isAlive }) => isAlive)
    if (alive.some(({ isFree }) => isFree)) return 0
    return (this.#characters * this.#msPerCharacter) / Math.max(1, alive.length)
  }

  /** Embeds a text when its turn comes. Rejects with `EmbedderFault`; at once when it would come too late. */
  embed(text: string, signal: AbortSignal): Promise<Int8Array> {
    if (!this.#threads.some(({ isAlive }) => isAlive)) return Promise.reject(gone())
    if (this.#waiting.length >= MOST_WAITING || this.expectedWaitMs > this.#longestWaitMs) {
      return Promise.reject(new EmbedderFault('embedder-busy', `The wait would exceed ${this.#longestWaitMs} ms.`))
    }
    const answer = Promise.withResolvers<Int8Array>()
    this.#characters += text.length
    this.#waiting.push({ text, signal, answer })
    this.advance()
    return answer.promise
  }

  /** Gives waiting texts to free threads; without a thread, nobody waits. */
  advance(): void {
    while (this.#waiting.length > 0) {
      const isHopeless = !this.#threads.some(({ isAlive }) => isAlive)
      const thread = this.#threads.find(({ isFree }) => isFree)
      if (thread === undefined && !isHopeless) return
      const next = this.#waiting.shift()
      if (next === undefined) return
      if (thread !== undefined && !next.signal.aborted) this.#run(thread, next)
      else this.#drop(next)
    }
  }

  #drop({ text, signal, answer }: Waiting): void {
    this.#characters -= text.length
    answer.reject(signal.aborted ? signal.reason : gone())
  }

  #run(thread: TextThread, { text, answer }: Waiting): void {
    const startedMs = performance.now()
    const done = () => {
      this.#characters -= text.length
    }
    const learn = () => {
      const latest = (performance.now() - startedMs) / Math.max(1, text.length)
      this.#msPerCharacter += (latest - this.#msPerCharacter) * WEIGHT_OF_NEWEST
    }
    const work = thread.embed(text)
    work.then(learn, () => {})
    work.then(done, done)
    work.then(answer.resolve, answer.reject)
  }
}

function gone(): EmbedderFault {
  return new EmbedderFault('embedder-gone', 'No thread has the model at the moment.')
}
