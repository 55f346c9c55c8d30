import test from 'ava'
import fc from 'fast-check'
import { blocksOf, rewrite } from '../../eval/compression/replay.ts'
import compress from '../../plugins/compress/index.ts'
import preserve from '../../plugins/preserve/index.ts'
import type { Message } from '../../src/core/request/message.ts'
import type { PluginMiddleware } from '../../src/plugin/contract.ts'
import { isDrill } from '../support/drill.ts'
import { createPluginServices } from '../support/plugin-services.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { toolSessions } from '../support/tool-sessions.ts'

const endings: (() => unknown)[] = []
let nowMs = 0
/** Two, of which only the first sees a conversation's history; each has a thread, and is used by all cases. */
const preserving = await Promise.all([1, 2].map(() => preserveWith({ tools: ['Read'], pattern: 'ENOENT.*' })))
const pinning = await preserveWith({ pattern: 'ENOENT.*' })
test.after.always('end the threads of searches', () => Promise.all(endings.map((end) => end())))

/** Returns a pipeline's steps; those without a history are for one request of each case. */
const PIPELINES: Readonly<Record<string, (history: 'with' | 'without') => Promise<PluginMiddleware[]>>> = {
  compress: async () => [await compressWith({})],
  'preserve,compress': async (history) => [
    preserving[history === 'with' ? 0 : 1] as PluginMiddleware, // safe: there are two
    await compressWith({}),
  ],
}
const RUNS = isDrill ? 40 : 8
/** Epochs of some hundred tokens, which no operator can set: the sessions of a property are short. */
const UNDER_PRESSURE = { elide: 'pressure', max_context: 4000, step: 2000, keep: 0, elide_tools: ['*'] }

// One after another: a property holds the event loop, and a search that waits five seconds for another is refused.
for (const [name, createSteps] of Object.entries(PIPELINES)) {
  test.serial(
    `${name}: what was sent before is the beginning of what is sent next, for every conversation`,
    async (t) => {
      let shortened = 0
      await fc.assert(
        fc.asyncProperty(toolSessions, async (messages) => {
          const steps = await createSteps('with')
          let before: string[] = []
          for (let length = 1; length <= messages.length; length++) {
            const seen = await see(messages, length, steps)
            t.deepEqual(seen.slice(0, before.length), before)
            before = seen
          }
          if (before.join('').length < blocksFor(messages).join('').length) shortened++
        }),
        { numRuns: RUNS },
      )
      t.true(shortened > RUNS / 4)
    },
  )

  test.serial(`${name}: a memory of the conversation changes nothing`, async (t) => {
    let forked = 0
    await fc.assert(
      fc.asyncProperty(toolSessions, toolSessions, fc.nat(20), async (first, second, at) => {
        const steps = await createSteps('with')
        await see(first, first.length, steps)
        // The same beginning, another end: the memory of the first end must not be used.
        const fork = [...first.slice(0, at), ...second.slice(at % 2 === 0 ? 0 : 1)]
        if (at > 1 && at < first.length) forked++
        t.deepEqual(await see(fork, fork.length, steps), await see(fork, fork.length, await createSteps('without')))
      }),
      { numRuns: RUNS },
    )
    t.true(forked > RUNS / 7)
  })

  test.serial(`${name}: no message grows, and those without results of tools keep their bytes`, async (t) => {
    await fc.assert(
      fc.asyncProperty(toolSessions, async (messages) => {
        const { request } = await rewrite({ system: '', messages }, messages.length, await createSteps('with'))
        const after = request.shape.messages.map(({ start, end }) => request.bytes.subarray(start, end).toString())
        for (const [index, message] of messages.entries()) {
          const before = JSON.stringify(message)
          t.true((after[index]?.length ?? 0) <= before.length)
          if (message.role === 'assistant' || index === 0) t.is(after[index], before)
        }
      }),
      { numRuns: RUNS },
    )
  })
}

test.serial('compress: pins and what preserve has declared keep their characters', async (t) => {
  let kept = 0
  await fc.assert(
    fc.asyncProperty(toolSessions, async (messages) => {
      const steps = [pinning, await compressWith(UNDER_PRESSURE)]
      const { messages: after } = await rewrite({ system: '', messages }, messages.length, steps)
      for (const [index, message] of messages.entries()) {
        if (message.role !== 'user') continue
        const wanted = textOf(message).match(/ENOENT.*|<keep>.*?<\/keep>/g) ?? []
        kept += wanted.length
        t.deepEqual(textOf(after[index]!).match(/ENOENT.*|<keep>.*?<\/keep>/g) ?? [], [...wanted])
      }
    }),
    { numRuns: RUNS },
  )
  t.true(kept > RUNS / 2)
})

test.serial('compress: between two epochs the beginning of the prompt stays', async (t) => {
  let breaks = 0
  let elided = 0
  const long = fc.array(toolSessions, { minLength: 7, maxLength: 9 }).map(renumbered)
  await fc.assert(
    fc.asyncProperty(long, async (messages) => {
      const steps = [await compressWith(UNDER_PRESSURE)]
      let before: string[] = []
      let tokens = 0
      for (let length = 1; length <= messages.length; length += 2) {
        const seen = await see(messages, length, steps)
        tokens = blocksOf({ system: '' }, messages.slice(0, length)).reduce((sum, block) => sum + block.tokens, 0)
        if (seen.slice(0, before.length).join() !== before.join()) breaks++
        before = seen
      }
      elided += before.filter((block) => block.includes('elided by the gateway')).length
      // The estimate is within a third of the tokenizer's count.
      t.true(breaks === 0 || tokens > 2600)
      t.deepEqual(
        before,
        await see(messages, messages.length - ((messages.length + 1) % 2), [await compressWith(UNDER_PRESSURE)]),
      )
    }),
    { numRuns: 10 },
  )
  t.true(breaks > 2)
  t.true(elided > 6)
})

async function compressWith(given: object): Promise<PluginMiddleware> {
  const options = compress.options.parse(given)
  const instance = await compress.setup(options, createPluginServices(createRecordingLog()))
  return instance.middleware(options)
}

async function preserveWith(given: object): Promise<PluginMiddleware> {
  const options = preserve.options.parse(given)
  // An hour passes between two checks of its CPU budget.
  const clock = { nowMs: () => (nowMs += 3_600_000) }
  const instance = await preserve.setup(options, { ...createPluginServices(createRecordingLog()), clock })
  endings.push(() => instance.close?.())
  return instance.middleware(options)
}

/** Returns the blocks of the first messages as the provider's cache sees them. */
async function see(messages: Message[], length: number, steps: readonly PluginMiddleware[]): Promise<string[]> {
  return blocksFor((await rewrite({ system: '', messages }, length, steps)).messages)
}

function blocksFor(messages: readonly Message[]): string[] {
  return blocksOf({ system: '' }, messages).map(({ text }) => text)
}

/** Returns the texts in a message, joined. */
function textOf({ content }: Message): string {
  if (typeof content === 'string') return content
  return content
    .map((block) => {
      if (block.type === 'text') return block.text
      return block.type === 'tool_result' ? textOf({ role: 'user', content: block.content ?? '' }) : ''
    })
    .join('\n')
}

/** Concatenates sessions, each with ids of its own. */
function renumbered(sessions: readonly Message[][]): Message[] {
  return sessions.flatMap((session, index) =>
    JSON.parse(JSON.stringify(session).replaceAll('toolu_', `toolu_${index}_`)),
  )
}
