import { existsSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { loadTrajectories } from '../../eval/compression/data.ts'
import { longSessions } from '../../eval/compression/long-sessions.ts'
import { STAGE_A, STAGE_B } from '../../eval/compression/policies.ts'
import { readView } from '../../eval/compression/reader.ts'
import { rewrite } from '../../eval/compression/replay.ts'
import { stripFile, stripOutput } from '../../plugins/compress/strip.ts'
import type { Message } from '../../src/core/request/message.ts'
import { isDrill } from '../support/drill.ts'
import { dataFolder } from '../support/recordings.ts'
import { repetitiveSessions } from '../support/repetitive-sessions.ts'

const folder = path.join(dataFolder(), 'compression')
const hasData = existsSync(folder)

/** Reads what is sent of a session; every result must come out as the tool returned it, but for layout. */
async function readSession(messages: Message[], policy = STAGE_A) {
  const sent = await rewrite({ system: '', messages }, messages.length, await policy.createSteps())
  const { texts, faults } = readView(sent.messages)
  const originals = messages.flatMap(resultTexts)
  const wrong = texts.filter(({ whole }, index) => {
    const original = originals[index] ?? ''
    return ![original, stripFile(original), stripOutput(original)].includes(whole)
  })
  return { faults, wrong, pointers: texts.reduce((sum, { pointers }) => sum + pointers, 0), texts }
}

function resultTexts({ content }: Message): string[] {
  if (typeof content === 'string') return []
  return content.flatMap((block) => {
    if (block.type !== 'tool_result') return []
    if (typeof block.content === 'string') return [block.content]
    return (block.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []))
  })
}

test('compress: a reader that has only what is sent finds every removed byte again, for every conversation', async (t) => {
  let found = 0
  await fc.assert(
    fc.asyncProperty(repetitiveSessions, async (messages) => {
      const { faults, wrong, pointers } = await readSession(messages)
      t.deepEqual(faults, [])
      t.deepEqual(wrong, [])
      found += pointers
    }),
    { numRuns: isDrill ? 150 : 24 },
  )
  t.true(found > 40)
})

test('compress: no pointer is inside a value of JSON', async (t) => {
  let inJson = 0
  await fc.assert(
    fc.asyncProperty(repetitiveSessions, async (messages) => {
      for (const { sent, whole, pointers } of (await readSession(messages)).texts) {
        if (pointers === 0 || !isJson(whole)) continue
        inJson++
        // A pointer in the place of elements is followed by the comma that was behind them, or by none.
        const marked = sent.replace(/\[\d+ (?:lines|characters) as .*?”\],?/gs, '0,').replace(/0,(?=\s*(?:\]|$))/g, '0')
        t.true(isJson(marked), sent)
      }
    }),
    { numRuns: isDrill ? 100 : 16 },
  )
  t.true(inJson > 8)
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('compress: no pointer of a real session leads to several places, or to none', async (t) => {
  if (!hasData) return t.pass(`no sessions in ${folder}: skipped`)
  const sessions = loadTrajectories(folder)
  const long = longSessions(sessions)
  for (const { id, messages } of [...sessions, ...long]) {
    const { faults, wrong } = await readSession(messages)
    t.deepEqual({ faults, wrong }, { faults: [], wrong: [] }, id)
  }
  for (const { id, messages } of long) t.deepEqual((await readSession(messages, STAGE_B)).faults, [], id)
})
