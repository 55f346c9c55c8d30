import type { JsonObject } from '../support/json.ts'
import { inputOf, SAME } from '../support/looping.ts'

/*
 * DESIGN. A day of three coding agents, as the requests that their clients send: Claude Code over Messages with marks of its
 * own, opencode over chat, and Codex over Responses. What changes between two turns of Claude Code is planted, one change a
 * turn, each with the reason that the gateway is to name.
 */

/** One request of the day. */
export interface DayStep {
  /** The conversation, as the test names it. */
  readonly agent: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
  /** Time since the step before, in minutes. */
  readonly pauseMinutes?: number
  /** Reason of the loss that is planted in this step. */
  readonly lost?: string
  /** The step repeats the two before. */
  readonly isLoop?: true
}

export const SONNET = 'claude-sonnet-4-5'
export const HAIKU = 'claude-haiku-4-5'

const PARAGRAPH = 'The keeper of the road counts each carriage, notes the hour, and writes down what was paid for it. '
const MARK = { cache_control: { type: 'ephemeral' } }

/** A text of about so many tokens that begins with its name. */
const textOf = (name: string, tokens: number) =>
  `${name}: ${PARAGRAPH.repeat(Math.ceil((tokens * 4) / PARAGRAPH.length))}`

const TOOLS = ['Bash', 'Read', 'Edit'].map((name) => ({
  name,
  description: textOf(`Tool ${name}`, 200),
  input_schema: { type: 'object', properties: {} },
}))

interface Session {
  readonly name: string
  readonly turn: number
  readonly model?: string
  readonly day?: string
  readonly tools?: readonly JsonObject[]
  /** The turn after which the history is a summary. */
  readonly compactedAt?: number
}

/** Messages of a session up to a turn, the last one the user's. */
function historyOf({ name, turn, compactedAt = 0 }: Session): JsonObject[] {
  const summary = compactedAt === 0 ? [] : [{ role: 'user', content: textOf(`Summary of ${name}`, 400) }]
  const first = compactedAt === 0 ? 0 : 1
  return [
    ...summary,
    ...Array.from({ length: 2 * (turn - compactedAt) - 1 }, (_, index) => {
      const isLast = index === 2 * (turn - compactedAt) - 2
      const text = textOf(`${name} ${compactedAt * 2 + index}`, 300)
      const role = (index + first) % 2 === 0 ? 'user' : 'assistant'
      return { role, content: [{ type: 'text', text, ...(isLast && MARK) }] }
    }),
  ]
}

/** A request of Claude Code, with its marks after the tools, the system text and the last message. */
function claudeCodeBody(session: Session): JsonObject {
  const { name, model = SONNET, day = 'Monday', tools = TOOLS } = session
  return {
    model,
    max_tokens: 64,
    stream: session.turn % 2 === 0,
    tools,
    system: [
      { type: 'text', text: `You are Claude Code. ${name}` },
      { type: 'text', text: `${textOf('Rules', 1200)} Today is ${day}.`, ...MARK },
    ],
    messages: historyOf(session),
  }
}

const CLAUDE_CODE = { 'x-claude-code-session-id': '5d1f5d33-9f0e-4a77-8a0e-2a5c7d1d9a01' }
const EXPLORE = { ...CLAUDE_CODE, 'x-claude-code-agent-id': 'explore-1' }
const OPENCODE = { 'x-session-id': 'ses_opencode' }
const CODEX_ID = '0b8a9c1e-5f0e-4d0c-9a53-6f0e6a1c2b3d'
const CODEX = { 'session-id': CODEX_ID, 'thread-id': CODEX_ID }

function claudeCode(session: Omit<Session, 'name'>, step: Partial<DayStep> = {}): DayStep {
  const body = claudeCodeBody({ name: 'main', ...session })
  return { agent: 'claude-code', path: '/v1/messages', headers: CLAUDE_CODE, body, ...step }
}

function explore(turn: number): DayStep {
  const body = claudeCodeBody({ name: 'explore', turn })
  return { agent: 'explore', path: '/v1/messages', headers: EXPLORE, body }
}

function opencode(turn: number, step: Partial<DayStep> = {}): DayStep {
  const system = { role: 'system', content: textOf('opencode', 1500) }
  const history = historyOf({ name: 'opencode', turn }).map(({ role, content }) => ({
    role,
    content: (content as JsonObject[]).map(({ text }) => text).join(''),
  }))
  const body = { model: SONNET, max_tokens: 64, stream: turn % 2 === 0, messages: [system, ...history] }
  return { agent: 'opencode', path: '/v1/chat/completions', headers: OPENCODE, body, ...step }
}

function codex(steps: number, step: Partial<DayStep> = {}): DayStep {
  const same = Array.from({ length: steps }, () => SAME)
  const body = {
    model: SONNET,
    max_output_tokens: 64,
    stream: true,
    store: false,
    instructions: textOf('Codex', 1500),
    input: inputOf(same),
  }
  return { agent: 'codex', path: '/v1/responses', headers: CODEX, body, ...step }
}

/** The requests of the day, in order. */
export const DAY: readonly DayStep[] = [
  claudeCode({ turn: 1 }),
  opencode(1),
  claudeCode({ turn: 2 }),
  codex(0),
  explore(1),
  claudeCode({ turn: 3 }),
  explore(2),
  claudeCode({ turn: 4, day: 'Tuesday' }, { lost: 'system' }),
  opencode(2),
  explore(3),
  claudeCode({ turn: 5, day: 'Tuesday' }),
  codex(1),
  claudeCode({ turn: 6, day: 'Tuesday' }, { pauseMinutes: 7, lost: 'expired' }),
  claudeCode({ turn: 7, day: 'Tuesday', model: HAIKU }, { lost: 'model' }),
  claudeCode({ turn: 8, day: 'Tuesday', model: HAIKU }),
  codex(2, { lost: 'expired' }),
  claudeCode({ turn: 9, day: 'Tuesday', model: HAIKU, compactedAt: 8 }, { lost: 'compaction' }),
  codex(3, { isLoop: true }),
  claudeCode({ turn: 10, day: 'Tuesday', model: HAIKU, compactedAt: 8, tools: TOOLS.toReversed() }, { lost: 'tools' }),
  opencode(3, { lost: 'expired' }),
]
