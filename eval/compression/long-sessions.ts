import type { ContentBlock, Message } from '../../src/core/request/message.ts'
import { countTokens } from '../tokens.ts'
import { setOf, type Trajectory } from './data.ts'

const LONG_ENOUGH_TOKENS = 100_000
/** Least share of results in a set's tokens: stage B does not change texts of users and the assistant. */
const LEAST_RESULTS = 0.6

/**
 * Concatenates sessions of one set until they are long; drops a remainder that is too short. Only sets that consist
 * mostly of results.
 */
export function longSessions(trajectories: readonly Trajectory[]): Trajectory[] {
  const bySet = Map.groupBy(trajectories, setOf)
  return [...bySet].flatMap(([set, members]) => {
    if (resultShare(members) < LEAST_RESULTS) return []
    const sessions: Trajectory[] = []
    let current: Trajectory[] = []
    let tokens = 0
    for (const member of members) {
      current.push(member)
      tokens += tokensOf(member)
      if (tokens < LONG_ENOUGH_TOKENS) continue
      sessions.push(join(`long-${set}-${sessions.length + 1}`, current))
      current = []
      tokens = 0
    }
    return sessions
  })
}

function tokensOf({ messages }: Trajectory): number {
  const texts = messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
  return texts.reduce((sum, text) => sum + countTokens(text), 0)
}

function resultShare(trajectories: readonly Trajectory[]): number {
  const messages = trajectories.flatMap((trajectory) => trajectory.messages)
  const blocks = messages.flatMap(({ content }): (string | ContentBlock)[] =>
    typeof content === 'string' ? [content] : content,
  )
  const tokens = (all: typeof blocks) => all.reduce((sum, block) => sum + countTokens(JSON.stringify(block)), 0)
  const results = blocks.filter((block) => typeof block !== 'string' && block.type === 'tool_result')
  return tokens(results) / tokens(blocks)
}

function join(id: string, parts: readonly Trajectory[]): Trajectory {
  const messages: Message[] = []
  const needles: Trajectory['needles'] = []
  for (const [index, part] of parts.entries()) {
    const offset = messages.length
    messages.push(...part.messages.map((message) => renamed(message, `s${index}_`)))
    needles.push(
      ...part.needles.map(([value, first, referring]): Trajectory['needles'][number] => [
        value,
        first + offset,
        referring + offset,
      ]),
    )
  }
  return { id, split: parts[0]?.split ?? 'dev', system: parts[0]?.system ?? '', messages, needles }
}

/** Prefixes the ids of calls, which two sessions may share. */
function renamed({ role, content }: Message, prefix: string): Message {
  if (typeof content === 'string') return { role, content }
  return { role, content: content.map((block) => renamedBlock(block, prefix)) }
}

function renamedBlock(block: ContentBlock, prefix: string): ContentBlock {
  if (block.type === 'tool_use') return { ...block, id: prefix + block.id }
  if (block.type === 'tool_result') return { ...block, tool_use_id: prefix + block.tool_use_id }
  return block
}
