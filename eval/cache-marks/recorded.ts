import { loadTrajectories } from '../compression/data.ts'
import { countTokens } from '../tokens.ts'
import type { Call, Message, Part } from './call.ts'
import { createRandom } from './random.ts'
import { REPLY_MS, type Traffic } from './traffic.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Returns the recorded sessions as traffic of one caller. They have no times: these are generated, by the seed. */
export function recordedTraffic(folder: string, seed: number): Traffic[] {
  const random = createRandom(seed)
  const calls = loadTrajectories(folder).flatMap(({ id, system, messages }): Call[] => {
    const parts = messages.map(({ role, content }): Message => {
      const blocks = typeof content === 'string' ? [content] : content
      const isResult = blocks.some((block) => typeof block !== 'string' && block.type === 'tool_result')
      return {
        role: role === 'assistant' ? 'assistant' : 'user',
        isResult,
        parts: blocks.map((block) => partOf(block)),
      }
    })
    const systemParts = system === '' ? [] : [partOf(system)]
    let atMs = random.waiting(12 * HOUR)
    return parts.flatMap(({ role }, index): Call[] => {
      if (role !== 'assistant' || index === 0) return []
      const isPerson = parts[index - 1]?.isResult !== true && index > 1
      atMs += REPLY_MS + (isPerson ? 20 * SECOND + random.waiting(3 * MINUTE) : random.waiting(9 * SECOND))
      return [{ atMs, conversation: `${id} ${seed}`, tools: [], system: systemParts, messages: parts.slice(0, index) }]
    })
  })
  return [{ name: 'recorded sessions', calls: calls.toSorted((a, b) => a.atMs - b.atMs) }]
}

function partOf(block: unknown): Part {
  const name = typeof block === 'string' ? block : JSON.stringify(block)
  return { name, tokens: countTokens(name) }
}
