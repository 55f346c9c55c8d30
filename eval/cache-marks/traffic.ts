import type { Call, Message, Part } from './call.ts'
import { createRandom, type Random } from './random.ts'

/** Calls of one caller to one model, in the order of time. */
export interface Traffic {
  readonly name: string
  readonly calls: readonly Call[]
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Shortest time between a call and the next one of its conversation. */
export const REPLY_MS = 3 * SECOND

/** Generates the traffic of a seed: each kind alone, and all of them as one caller. */
export function generateTraffic(seed: number): Traffic[] {
  const kinds: readonly (readonly [name: string, generate: (random: Random, name: string) => Call[]])[] = [
    ['agents, no pauses', (random, name) => agents(random, { name, sessions: 12, pause: undefined })],
    [
      'agents, short pauses',
      (random, name) => agents(random, { name, sessions: 12, pause: [20 * SECOND, 4 * MINUTE] }),
    ],
    ['agents, long pauses', (random, name) => agents(random, { name, sessions: 12, pause: [6 * MINUTE, 50 * MINUTE] })],
    ['chats', chats],
    ['chats of two turns', shortChats],
    ['prompts sent twice', pairs],
    ['one-shots, distinct', (random, name) => oneShots(random, { name, everyMs: 20 * SECOND, isShared: false })],
    ['one-shots, shared, each 2 s', (random, name) => oneShots(random, { name, everyMs: 2 * SECOND })],
    ['one-shots, shared, each 60 s', (random, name) => oneShots(random, { name, everyMs: MINUTE })],
    ['one-shots, shared, each 4 min', (random, name) => oneShots(random, { name, everyMs: 4 * MINUTE })],
    ['one-shots, shared, each 20 min', (random, name) => oneShots(random, { name, everyMs: 20 * MINUTE })],
    ['one-shots, shared, each 3 h', (random, name) => oneShots(random, { name, everyMs: 3 * HOUR })],
    ['batches, shared', batches],
  ]
  const alone = kinds.map(([name, generate], index) => ({
    name,
    calls: inOrder(generate(createRandom(seed * 100 + index), name)),
  }))
  const inMix = alone.filter(({ name }) => !name.endsWith('each 2 s') && !name.endsWith('each 3 h'))
  return [...alone, { name: 'mix of all', calls: inOrder(inMix.flatMap(({ calls }) => calls)) }]
}

function inOrder(calls: readonly Call[]): Call[] {
  return calls.toSorted((a, b) => a.atMs - b.atMs)
}

const part = (name: string, tokens: number): Part => ({ name, tokens })
const user = (...parts: Part[]): Message => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts })
const result = (...parts: Part[]): Message => ({ role: 'user', isResult: true, parts })

interface AgentTraffic {
  readonly name: string
  readonly sessions: number
  /** Shortest and longest pause of the user between two tasks of a session; `undefined`: one task only. */
  readonly pause: readonly [number, number] | undefined
}

/** Two agents with tools; each task is a loop of tool calls, a few of them at once. */
function agents(random: Random, { name, sessions, pause }: AgentTraffic): Call[] {
  const calls: Call[] = []
  for (let session = 0; session < sessions; session++) {
    const agent = `${name} agent ${session % 2}`
    const tools = Array.from({ length: 18 }, (_, index) => part(`${agent} tool ${index}`, 300 + index * 20))
    const system = [part(`${agent} system`, 2600)]
    const conversation = `${name} ${session}`
    const messages: Message[] = []
    let atMs = random.waiting(2 * HOUR)
    const tasks = pause === undefined ? 1 : random.between(3, 7)
    for (let task = 0; task < tasks; task++) {
      messages.push(user(part(`${conversation} ask ${task}`, random.between(40, 600))))
      const turns = random.between(4, 16)
      for (let turn = 0; turn < turns; turn++) {
        calls.push({ atMs, conversation, tools, system, messages: [...messages] })
        atMs += REPLY_MS + random.waiting(9 * SECOND)
        const at = `${conversation} ${task} ${turn}`
        const parallel = random.next() < 0.2 ? random.between(2, 12) : 1
        const uses = Array.from({ length: parallel }, (_, index) => part(`${at} use ${index}`, random.between(60, 240)))
        messages.push(assistant(...uses))
        if (turn < turns - 1)
          messages.push(result(...uses.map((_, index) => part(`${at} result ${index}`, random.between(100, 2400)))))
      }
      if (pause !== undefined) atMs += pause[0] + random.next() * (pause[1] - pause[0])
    }
  }
  return calls
}

/** Conversations with a person: a system text for all, several turns. */
function chats(random: Random, name: string): Call[] {
  const system = [part(`${name} system`, 1500)]
  const calls: Call[] = []
  for (let chat = 0; chat < 60; chat++) {
    const conversation = `${name} ${chat}`
    const messages: Message[] = []
    let atMs = random.waiting(4 * HOUR)
    const turns = random.between(1, 9)
    for (let turn = 0; turn < turns; turn++) {
      messages.push(user(part(`${conversation} ask ${turn}`, random.between(30, 900))))
      calls.push({ atMs, conversation, tools: [], system, messages: [...messages] })
      messages.push(assistant(part(`${conversation} answer ${turn}`, random.between(150, 900))))
      atMs += REPLY_MS + 15 * SECOND + random.waiting(2 * MINUTE)
    }
  }
  return calls
}

/** Conversations that end after their second turn, many at once: marks never pay. */
function shortChats(random: Random, name: string): Call[] {
  return Array.from({ length: 200 }, (_, chat): Call[] => {
    const conversation = `${name} ${chat}`
    const atMs = random.waiting(10 * MINUTE)
    const first = [user(part(`${conversation} ask`, random.between(1200, 4000)))]
    const answer = assistant(part(`${conversation} answer`, random.between(150, 900)))
    const second = [...first, answer, user(part(`${conversation} more`, random.between(30, 900)))]
    const laterMs = atMs + REPLY_MS + random.waiting(2 * MINUTE)
    return [
      { atMs, conversation, tools: [], system: [], messages: first },
      { atMs: laterMs, conversation, tools: [], system: [], messages: second },
    ]
  }).flat()
}

/** Beginnings of their own that come twice, and never again. */
function pairs(random: Random, name: string): Call[] {
  let startMs = 0
  return Array.from({ length: 200 }, (_, index): Call[] => {
    startMs += random.waiting(30 * SECOND)
    const system = [part(`${name} system ${index}`, random.between(1500, 5000))]
    return [0, random.between(5, 200) * SECOND].map((laterMs, nth) => ({
      atMs: startMs + laterMs,
      conversation: `${name} ${index} ${nth}`,
      tools: [],
      system,
      messages: [user(part(`${name} ${index} ask ${nth}`, random.between(100, 700)))],
    }))
  }).flat()
}

/** Calls without a conversation, with a system text of all or of their own. */
function oneShots(
  random: Random,
  { name, everyMs, isShared = true }: { name: string; everyMs: number; isShared?: boolean },
): Call[] {
  let atMs = 0
  return Array.from({ length: 400 }, (_, index) => {
    atMs += random.waiting(everyMs)
    const conversation = `${name} ${index}`
    const system = [
      part(isShared ? `${name} system` : `${conversation} system`, isShared ? 4000 : random.between(200, 5000)),
    ]
    const messages = [user(part(`${conversation} ask`, random.between(100, isShared ? 700 : 4000)))]
    return { atMs, conversation, tools: [], system, messages }
  })
}

/** Jobs that send 40 requests at once, now and then. */
function batches(random: Random, name: string): Call[] {
  const system = [part(`${name} system`, 4000)]
  const calls: Call[] = []
  let startMs = 0
  for (let batch = 0; batch < 10; batch++) {
    for (let index = 0; index < 40; index++) {
      const conversation = `${name} ${batch} ${index}`
      const atMs = startMs + Math.floor(index / 8) * 4 * SECOND + random.waiting(SECOND / 2)
      calls.push({
        atMs,
        conversation,
        tools: [],
        system,
        messages: [user(part(`${conversation} ask`, random.between(200, 900)))],
      })
    }
    startMs += 20 * MINUTE + random.waiting(40 * MINUTE)
  }
  return calls
}
