import { existsSync } from 'node:fs'
import path from 'node:path'
import { loadTrajectories } from '../../eval/compression/data.ts'
import type { JsonObject } from '../support/json.ts'
import { dataFolder } from '../support/recordings.ts'
import { toolCatalogue } from '../support/tool-catalogue.ts'
import { type Chance, createChance } from './random.ts'

/** A whole session, of which a client sends a longer and longer beginning. */
export interface Session {
  readonly system: string
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

/** The sessions that users run; `absent` reports in one line that they are generated. */
export interface Sessions {
  readonly items: readonly Session[]
  readonly absent?: string
}

/** Longer ones would make the drill one of a few large requests. */
const MOST_MESSAGES = 40
const MOST_BYTES = 80_000
const GENERATED = 40
const CATALOGUE = toolCatalogue()

/** Loads recorded sessions of agents beside the project, or generates some of their shape. */
export function loadSessions(): Sessions {
  const folder = path.join(dataFolder(), 'compression')
  if (existsSync(folder)) return { items: loadTrajectories(folder).map(shorten) }
  const absent = `no trajectories in ${folder}: sessions are generated (TURNPIKE_DATA names the data folder)`
  return { items: Array.from({ length: GENERATED }, (_, seed) => generate(createChance(seed))), absent }
}

/** The requests of a session, turn by turn; `mark` makes it another than that of the next user who goes through it. */
export function* requestsOf({ system, messages }: Session, mark: string, chance: Chance): Generator<JsonObject> {
  const hasTools = chance.happens(0.3)
  const rest = {
    model: chance.pick(['claude-sonnet-4-5', 'claude-haiku-4-5']),
    max_tokens: 1000,
    system: `${system}\nSession ${mark}.`,
    ...(hasTools && { tools: CATALOGUE }),
  }
  for (const [index, { role }] of messages.entries())
    if (role === 'user') yield { ...rest, stream: chance.happens(0.6), messages: messages.slice(0, index + 1) }
}

function shorten({ system, messages }: Session): Session {
  let bytes = 0
  const kept = messages.slice(0, MOST_MESSAGES).filter((message) => {
    bytes += JSON.stringify(message).length
    return bytes < MOST_BYTES
  })
  return { system, messages: kept }
}

const LINES = [
  'export async function load(path: string): Promise<Buffer> {',
  'Error: ENOENT: no such file or directory, open "/etc/none"',
  '    at Object.open (node:internal/fs/promises:638:12)',
  '✔ reads a file (12ms)',
  '{"id":"HAT057","price":109,"seats":[{"row":1,"free":true},{"row":2,"free":false}]}',
]

function generate(chance: Chance): Session {
  const output = () => Array.from({ length: 5 + chance.below(60) }, () => chance.pick(LINES)).join('\n')
  const turns = Array.from({ length: 6 + chance.below(14) }, (_, turn) => {
    const id = `toolu_${turn}`
    const input = { path: `src/${chance.below(20)}.ts` }
    return [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read_file', input }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: output() }] },
    ]
  })
  return { system: 'You mend programs.', messages: [{ role: 'user', content: 'Find the fault.' }, ...turns.flat()] }
}

const SUBJECTS = ['an invoice', 'the weather in Oslo', 'a flight to Lima', 'my password', 'the order of yesterday']
const ASKS = [
  'How do I change',
  'How can I change',
  'What is the way to change',
  'Where do I look up',
  'Who knows about',
]

/** Returns a frequent question, in one wording of several. */
export function question(chance: Chance): JsonObject {
  const content = `${chance.pick(ASKS)} ${chance.pick(SUBJECTS)}?`
  return { model: 'claude-haiku-4-5', max_tokens: 300, messages: [{ role: 'user', content }] }
}
