import { type CommandCall, GatewayError, type PluginCommand } from 'turnpike/plugin'
import type { EntryBook, ScopedFact } from './entries/book.ts'
import { packFact } from './entries/fact.ts'
import { type Places, preparePlaces } from './entries/places.ts'
import type { Options } from './options.ts'
import { reportsIn } from './read-reports.ts'

const MOST_SHOWN = 20
const LESSONS_KEPT_MS = 31 * 24 * 3_600_000
const ALL = 'all'

/** Commands for operators: `turnpike cache …`. They read and write the same place as running gateways. */
export const commands: readonly PluginCommand<Options>[] = [
  { name: 'stats', summary: 'Tells how much is kept, and where.', run: (call) => withBook(call, stats) },
  {
    name: 'inspect',
    summary: 'Shows the entries of a reply or scope, or those whose text has some words.',
    argument: {
      name: 'what',
      description: 'an entry’s id (`x-svc-cache-entry`), a scope’s id, or words of its text',
      example: '"refund policy"',
    },
    run: (call) => withBook(call, inspect),
  },
  {
    name: 'evict',
    summary: 'Forgets a reply, a scope or everything, in running gateways too.',
    argument: { name: 'what', description: 'an entry’s id, a scope’s id, or `all`', example: 'all' },
    run: (call) => withBook(call, evict),
  },
]

interface Opened extends CommandCall<Options> {
  readonly book: EntryBook
  readonly replies: Places['replies']
}

async function withBook(call: CommandCall<Options>, work: (opened: Opened) => Promise<boolean>): Promise<boolean> {
  const open = await preparePlaces(call.options, call)
  const { book, replies } = await open()
  if (book === undefined) {
    throw new GatewayError(
      'invalid_request',
      'Entries are in the memory of each gateway alone (`persist: false`): there is nothing that a command could see.',
    )
  }
  try {
    return await work({ ...call, book, replies })
  } finally {
    await book.close()
  }
}

async function stats({ book, folder, json, print }: Opened): Promise<boolean> {
  const scopes = new Map<string, number>()
  const counts = { entries: 0, blocks: 0, removals: 0, bytes: 0 }
  await book.list((found) => {
    for (const { scope, fact } of found) {
      counts.bytes += packFact(fact).value.length
      if (fact.kind === 'removal') counts.removals++
      else if (fact.kind === 'block') counts.blocks++
      else {
        counts.entries++
        scopes.set(scope, (scopes.get(scope) ?? 0) + 1)
      }
    }
  })
  const largest = Math.max(0, ...scopes.values())
  const found = {
    engine: book.engine,
    scopes: scopes.size,
    largestScope: largest,
    ...counts,
    ...(await reportsIn(folder)),
  }
  if (json) print(JSON.stringify(found))
  else for (const [name, value] of Object.entries(found)) print(`${name}: ${textOf(value)}`)
  return true
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

async function inspect({ book, argument, json, print, clock }: Opened): Promise<boolean> {
  const shown: object[] = []
  let matches = 0
  await book.list((found) => {
    for (const { scope, fact } of found) {
      if (fact.kind !== 'entry' || !isMeant({ scope, fact }, argument)) continue
      matches++
      const { id, text, storedAtMs, expiresAtMs } = fact.entry
      const ageSeconds = Math.floor((clock.nowMs() - storedAtMs) / 1000)
      const expiresInSeconds = Math.floor((expiresAtMs - clock.nowMs()) / 1000)
      if (shown.length < MOST_SHOWN) shown.push({ id, scope, ageSeconds, expiresInSeconds, text })
    }
  })
  if (json) print(JSON.stringify({ matches, shown }))
  else {
    for (const entry of shown)
      print(
        `${Object.entries(entry)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}\n`,
      )
    print(`${matches} found${matches > MOST_SHOWN ? `, the first ${MOST_SHOWN} shown` : ''}`)
  }
  return matches > 0
}

function isMeant({ scope, fact }: ScopedFact, what: string): boolean {
  if (fact.kind !== 'entry') return false
  const { id, text } = fact.entry
  return id === what || scope === what || text.toLowerCase().includes(what.toLowerCase())
}

async function evict({ book, replies, argument, json, print, clock }: Opened): Promise<boolean> {
  const leaving: { scope: string; id: string }[] = []
  const entries = new Map<string, Extract<ScopedFact['fact'], { kind: 'entry' }>['entry'][]>()
  await book.list((found) => {
    for (const { scope, fact } of found) {
      if (fact.kind !== 'entry') continue
      if (argument !== ALL && argument !== scope && argument !== fact.entry.id) continue
      leaving.push({ scope, id: fact.entry.id })
      entries.set(scope, [...(entries.get(scope) ?? []), fact.entry])
    }
  })
  if (argument === ALL) await book.clear(undefined)
  else if (entries.has(argument)) await book.clear(argument)
  else {
    const expiresAtMs = clock.nowMs() + LESSONS_KEPT_MS
    for (const [scope, its] of entries) {
      await book.append(scope, [{ kind: 'removal', id: argument, expiresAtMs }])
      await book.drop(scope, its)
    }
  }
  for (const id of new Set(leaving.map((one) => one.id))) await replies.delete(id)
  if (json) print(JSON.stringify({ evicted: leaving.length }))
  else print(`${leaving.length} evicted`)
  return leaving.length > 0 || argument === ALL
}
