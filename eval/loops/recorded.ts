import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Message, messageRequestSchema } from '../../src/core/request/message.ts'
import { loadEdgeCases, loadTrajectories } from '../compression/data.ts'
import { alarmsIn, turnsOf } from './measure.ts'

/** Recorded sessions that do repeat themselves, read one by one: the repetition of each. */
const REPEATING: Readonly<Record<string, string>> = {
  'tau-airline-9-2': 'books the same flight with the same wrong sum three times, with the same thought in between',
  'livemcp-claude-sonnet-4-e023dd0e': 'five calls in a row fail with the same error',
  'sweagent-crypto-eps-traj': 'submits the same wrong answer four times',
}

interface RecordedSession {
  readonly id: string
  readonly messages: readonly Message[]
}

/** Alarms in recorded sessions. */
export interface RecordedFigures {
  readonly sessions: number
  readonly turns: number
  /** Alarms in ordinary sessions: false ones. */
  readonly alarms: readonly string[]
  /** Sessions that repeat themselves and were found, and those that were not. */
  readonly found: readonly string[]
  readonly missed: readonly string[]
}

/** Measures all recorded sessions of a data folder at each of their turns; `undefined` when it has none. */
export function measureRecorded(folder: string): RecordedFigures | undefined {
  const sessions = loadSessions(folder)
  if (sessions.length === 0) return undefined
  const results = sessions.map(({ id, messages }) => ({ id, messages, alarm: alarmsIn(messages)[0] }))
  const ordinary = results.filter(({ id }) => REPEATING[id] === undefined)
  const repeating = results.filter(({ id }) => REPEATING[id] !== undefined)
  const name = ({ id, alarm }: (typeof results)[number]) =>
    alarm === undefined ? id : `${id}, message ${alarm.turn}: ${alarm.loop.kind}`
  return {
    sessions: ordinary.length,
    turns: ordinary.reduce((sum, { messages }) => sum + turnsOf(messages).length, 0),
    alarms: ordinary.filter(({ alarm }) => alarm !== undefined).map(name),
    found: repeating.filter(({ alarm }) => alarm !== undefined).map(name),
    missed: repeating.filter(({ alarm }) => alarm === undefined).map(name),
  }
}

function loadSessions(folder: string): RecordedSession[] {
  const compression = path.join(folder, 'compression')
  const edgeCases = existsSync(path.join(compression, 'edge-cases.jsonl')) ? loadEdgeCases(compression) : []
  return [
    ...(existsSync(path.join(compression, 'trajectories.jsonl')) ? loadTrajectories(compression) : []),
    ...edgeCases.map(({ id, request: { messages } }) => ({ id, messages })),
    ...loadClientRequests(path.join(folder, 'clients')),
  ]
}

/** Loads the requests that real clients have sent in the Messages dialect. */
function loadClientRequests(folder: string): RecordedSession[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((file) => {
    // Safe: checked just below.
    const requests = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as { body?: unknown }[]
    return requests.flatMap(({ body }, index) => {
      const parsed = messageRequestSchema.safeParse(body)
      return parsed.success ? [{ id: `${file} ${index}`, messages: parsed.data.messages }] : []
    })
  })
}
