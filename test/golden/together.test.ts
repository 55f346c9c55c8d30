import test from 'ava'
import fc from 'fast-check'
import type { Message } from '../../src/core/request/message.ts'
import { RequestDocument } from '../../src/core/request/request.ts'
import { openFixture } from '../support/fixture.ts'
import { toolCatalogue, toTool } from '../support/tool-catalogue.ts'
import { toolSessions } from '../support/tool-sessions.ts'

/*
 * All modules that change a provider's request, at once and over HTTP: what one call of a conversation sends
 * must be the beginning of what the next one sends, byte for byte, or the provider's prompt cache is lost.
 */

const PIPELINE = 'prune-tools,preserve?pattern=ENOENT.*&report=1,compress,patterns'
const fixture = await openFixture({ env: { SVC_PIPELINE: PIPELINE } })
test.after.always(() => fixture.close())

const TOOLS = [
  ...toolCatalogue(),
  ...['Read', 'Bash', 'mcp__memory__recall'].map((name) => toTool(name, 'Tells something.')),
]
const SQL = 'Why is this slow? SELECT id, name FROM users WHERE email = $1'
const sessions = fc
  .tuple(toolSessions, toolSessions)
  .map(([first, second]): Message[] => [
    ...first,
    { role: 'assistant', content: 'That is all I found.' },
    { role: 'user', content: SQL },
    ...renamed(second.slice(1)),
  ])

/** Gives the calls of a conversation unique ids. */
function renamed(messages: readonly Message[]): Message[] {
  return JSON.parse(JSON.stringify(messages).replaceAll('"toolu_', '"toolu_again_'))
}

/** Returns the provider's request: its tools, then message after message, as bytes. */
async function sent(messages: readonly Message[]): Promise<{ pieces: string[]; body: string; raw: string }> {
  const scenario = fixture.scenario()
  const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 500, tools: TOOLS, messages })
  const { status, text } = await scenario.send({ body })
  if (status !== 200) throw new Error(text)
  const raw = scenario.seen().at(-1)?.raw ?? Buffer.alloc(0)
  const document = new RequestDocument(raw)
  const bytesOf = ({ start, end }: { start: number; end: number }) => raw.subarray(start, end).toString()
  const pieces = [document.raw('tools')?.toString() ?? '', ...document.shape.messages.map(bytesOf)]
  return { pieces, body, raw: raw.toString() }
}

test('together: each call begins as the one before it, and what was declared stays', async (t) => {
  const done = { pruned: 0, shortened: 0, injected: 0, kept: 0 }
  for (const messages of fc.sample(sessions, { numRuns: 8, seed: 5 })) {
    let before: string[] = []
    for (let length = 1; length <= messages.length; length += 2) {
      const { pieces, body, raw } = await sent(messages.slice(0, length))
      t.deepEqual(pieces.slice(0, before.length), before)
      before = pieces
      const injected = raw.match(/<gateway-instructions[\s\S]*?<\/gateway-instructions>/g) ?? []
      if ((pieces[0] ?? '').length < JSON.stringify(TOOLS).length) done.pruned++
      if (injected.length > 0) done.injected++
      done.kept += raw.match(/ENOENT/g)?.length ?? 0
      if (raw.length < body.length - JSON.stringify(TOOLS).length + (pieces[0] ?? '').length) done.shortened++
      t.deepEqual(body.match(/ENOENT/g)?.length, raw.match(/ENOENT/g)?.length)
    }
  }
  t.log(JSON.stringify(done))
  for (const [what, count] of Object.entries(done)) t.true(count > 5, what)
})
