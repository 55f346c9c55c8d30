import { readView } from '../../eval/compression/reader.ts'
import type { ContentBlock, Message } from '../../src/core/request/message.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import type { Script } from '../support/provider/script.ts'
import { SECRET_TASKS } from './secret-tasks.ts'
import { type Call, type Known, TASKS } from './tasks.ts'

const ALL_TASKS = [...TASKS, ...SECRET_TASKS]
/** In the words of the user: which task, and in which folder. */
const PROMPT = /\[task ([\w-]+) in ([^\]\s]+)\]/
const LINE_NUMBER = /^ *\d+[→\t]/
/** Reminders that the agents append to a result. */
const REMINDER = /\n*<system-reminder>[\s\S]*?<\/system-reminder>\n*/g

/** Returns the prompt by which the user of an agent starts a task. */
export function promptFor(name: string, root: string): string {
  return `[task ${name} in ${root}] Do the task with your tools, step by step.`
}

/**
 * Plays the model: the next call of the task that the conversation is about, made from what the conversation shows, and
 * an answer when all is done. Throws where a pointer leads nowhere, or a line that is to be edited is not shown.
 */
export function play({ json }: Pick<SeenRequest, 'json'>): Script | undefined {
  // Safe: the stand-in, or the gateway in front, has checked the request.
  const { messages = [], tools } = (json ?? {}) as unknown as { messages?: Message[]; tools?: unknown[] }
  const [, name, root] = PROMPT.exec(JSON.stringify(messages)) ?? []
  const task = ALL_TASKS.find((one) => one.name === name)
  if (task === undefined || root === undefined || !Array.isArray(tools) || tools.length === 0) return undefined
  const known = knownFrom(messages, root)
  const done = messages.flatMap(callsIn).length
  const step = task.steps[done]
  return step === undefined ? { kind: 'answer', text: 'Done.' } : scriptFor(step(known), `toolu_${name}_${done}`)
}

function callsIn({ content }: Message): ContentBlock[] {
  return typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_use')
}

function scriptFor({ name, input }: Call, id: string): Script {
  const given = name === 'Bash' ? { ...input, description: 'Runs a command' } : input
  return { kind: 'answer', content: [{ type: 'tool_use', id, name, input: given }], stopReason: 'tool_use' }
}

function knownFrom(messages: readonly Message[], root: string): Known {
  const { texts, faults } = readView(messages)
  if (faults.length > 0) throw new Error(`A pointer cannot be looked up: ${JSON.stringify(faults)}`)
  const byCall = Map.groupBy(texts, ({ toolUseId }) => toolUseId)
  const results = [...byCall.values()].map((parts) => parts.map(({ whole }) => whole).join('\n'))
  return {
    root,
    text(nth) {
      const lines = (results[nth] ?? '').replace(REMINDER, '').split('\n')
      const isNumbered = lines.length > 0 && lines.filter((line) => LINE_NUMBER.test(line)).length > lines.length / 2
      return lines.map((line) => (isNumbered ? line.replace(LINE_NUMBER, '') : line)).join('\n')
    },
  }
}
