import type { ContentBlock, Message } from '../../src/core/request/message.ts'
import type { Random } from './random.ts'
import type { Act, World } from './world.ts'

/** Additions of a session to the acts of its world. */
interface Noise {
  /** Remarks before calls. */
  readonly hasRemarks: boolean
  /** Times, durations and ids in results. */
  readonly isVolatile: boolean
  /** Reminders that the client adds to results. */
  readonly hasReminders: boolean
}

/** Builds a session message by message. */
export class Session {
  readonly messages: Message[] = []
  readonly #random: Random
  readonly #world: World
  readonly #noise: Noise
  /** The form of the volatile line of all results. */
  readonly #traceForm: number
  #calls = 0

  constructor(random: Random, world: World) {
    this.#random = random
    this.#world = world
    this.#noise = { hasRemarks: random.chance(0.5), isVolatile: random.chance(0.4), hasReminders: random.chance(0.2) }
    this.#traceForm = random.int(0, 4)
    this.user(`Task ${random.int(1, 99_999)}: find the cause and repair it.`)
  }

  /** Adds a message of the user. */
  user(text: string): void {
    this.messages.push({ role: 'user', content: text })
  }

  /** Adds a text of the model, and the answer to it. */
  text(text: string, answer: string): void {
    this.messages.push({ role: 'assistant', content: text }, { role: 'user', content: answer })
  }

  /** Adds a step of parallel calls, and their results. */
  step(...acts: readonly Act[]): void {
    const remark = this.#noise.hasRemarks ? this.#random.pick(this.#world.remarks) : ''
    const spoken: ContentBlock[] = remark === '' ? [] : [{ type: 'text', text: remark }]
    const results: ContentBlock[] = []
    for (const { name, input, result, isError } of acts) {
      const id = `toolu_${this.#random.hex(8)}${this.#calls++}`
      spoken.push({ type: 'tool_use', id, name, input })
      const content = this.#noisy(result)
      results.push({ type: 'tool_result', tool_use_id: id, content, ...(isError === true && { is_error: true }) })
    }
    if (this.#random.chance(0.5)) results.reverse()
    this.messages.push({ role: 'assistant', content: spoken }, { role: 'user', content: results })
  }

  #noisy(result: string): string {
    const reminder = `\n<system-reminder>${this.#random.int(1, 99_999)} tokens left</system-reminder>`
    const text = this.#noise.isVolatile && result.length >= 100 ? `${result}\n${this.#trace()}` : result
    return this.#noise.hasReminders ? text + reminder : text
  }

  /** Returns a line that differs at each run. */
  #trace(): string {
    const { int, hex } = this.#random
    const at = `2026-11-23T${int(10, 23)}:${int(10, 59)}:${int(10, 59)}.${int(100, 999)}Z`
    const forms = [
      `done in 0.${int(10, 99)}s`,
      `[${at}] request req_${hex(20)}`,
      `log: /tmp/run-${hex(8)}/out.log`,
      `pid ${int(1000, 60_000)}, ${int(20, 900)} ms`,
      `trace ${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
    ]
    return forms[this.#traceForm] ?? ''
  }
}
