import { readFileSync } from 'node:fs'
import path from 'node:path'
import { KINDS, type Kind } from '../../plugins/redact/detect/finding.ts'
import { createScan } from '../../plugins/redact/detect/scan.ts'
import { KnownTexts } from '../../plugins/redact/known-texts.ts'
import { Placeholders } from '../../plugins/redact/placeholders.ts'
import { Redaction } from '../../plugins/redact/redaction.ts'
import { ClientRequest } from '../../src/core/request/client-request.ts'
import type { ExchangeState } from '../../src/core/request/exchange-state.ts'
import { mapRequestText } from '../../src/core/request/map-request-text.ts'
import { RequestDocument } from '../../src/core/request/request.ts'

/** CPU time of the plugin's work on the request of a coding agent, in milliseconds. */
export interface PassCost {
  readonly characters: number
  /** Reads all texts, of which none is replaced; parsing the body included. */
  readonly readMs: number
  /** Reads all texts, and replaces ten values in fifty places. */
  readonly replaceMs: number
  /** Both in a later turn, whose texts are known from the turn before. */
  readonly knownReadMs: number
  readonly knownReplaceMs: number
}

const ROOT = path.resolve(import.meta.dirname, '../..')
const FILES = ['src/core/request/exchange.ts', 'docs/lifecycle.md', 'src/core/json/scan.ts', 'docs/plugins.md']
const CHARACTERS_A_TURN = 3000
const ROUNDS = 5
const WARM_UP = 60
const RUNS = 60

/** Measures requests of these sizes, as conversations of calls of tools and their results. */
export function measurePasses(sizes: readonly number[]): PassCost[] {
  const text = FILES.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n')
  const scan = createScan(new Set<Kind>(KINDS.filter((kind) => kind !== 'host')))
  const known = new KnownTexts().remembering(scan, 'c')
  return sizes.map((characters) => ({
    characters,
    readMs: cpuMs(() => pass(bodyOf(text, characters, []), scan)),
    replaceMs: cpuMs(() => pass(bodyOf(text, characters, MAILS), scan)),
    knownReadMs: cpuMs(() => pass(bodyOf(text, characters, []), known)),
    knownReplaceMs: cpuMs(() => pass(bodyOf(text, characters, MAILS), known)),
  }))
}

const MAILS = Array.from({ length: 10 }, (_, index) => `person${index}@acme-corp.io`)

const bodies = new Map<string, Buffer>()

function bodyOf(text: string, characters: number, values: readonly string[]): Buffer {
  const key = `${characters} ${values.length}`
  const known = bodies.get(key)
  if (known !== undefined) return known
  const turns = characters / CHARACTERS_A_TURN
  const messages = Array.from({ length: turns }, (_, turn) => {
    const from = (turn * CHARACTERS_A_TURN) % (text.length - CHARACTERS_A_TURN)
    const more = values.length > 0 && turn % Math.max(1, turns / 5) < 1 ? values.join(' ') : ''
    const content = text.slice(from, from + CHARACTERS_A_TURN - more.length) + more
    return [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: `toolu_${turn}`, name: 'Read', input: { file: `src/${turn}.ts` } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${turn}`, content }] },
    ]
  })
  const body = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 1000, messages: messages.flat() }))
  bodies.set(key, body)
  return body
}

function pass(body: Buffer, scan: ReturnType<typeof createScan>): void {
  // Safe: nothing else of the state is read.
  const state = { client: new ClientRequest(new RequestDocument(body)), request: undefined } as unknown as ExchangeState
  const exchange = {
    query: '',
    headers: {},
    callerParts: '',
    mapRequestText: (map: Parameters<typeof mapRequestText>[1]) => mapRequestText(state, map),
  }
  const redaction = new Redaction(scan)
  redaction.read(exchange as Parameters<Redaction['read']>[0])
  const placeholders = new Placeholders({ key: Buffer.alloc(32), caller: 'c', conversation: 'c' })
  if (!redaction.isEmpty) redaction.replace(exchange as Parameters<Redaction['read']>[0], placeholders)
}

/** Returns the CPU time of one run: the least of several rounds, which others on the machine have disturbed least. */
function cpuMs(work: () => void): number {
  for (let i = 0; i < WARM_UP; i++) work()
  const rounds = Array.from({ length: ROUNDS }, () => {
    const begun = process.cpuUsage()
    for (let i = 0; i < RUNS; i++) work()
    const { user, system } = process.cpuUsage(begun)
    return (user + system) / 1000 / RUNS
  })
  return Math.min(...rounds)
}
