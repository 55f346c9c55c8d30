import { GatewayError } from 'turnpike/plugin'
import type { CommandCall, PluginCommand } from 'turnpike/plugin/commands'
import { headOf } from './answers/answer.ts'
import type { Listed } from './answers/file/protocol.ts'
import { openShelf } from './answers/places.ts'
import type { Shelf } from './answers/shelf.ts'
import { SERVED_PREFIX } from './feedback/served.ts'
import { ENTRY_CHARACTERS, entryOf } from './key.ts'
import type { Options } from './options.ts'

const MOST_SHOWN = 20
const ALL = 'all'

/** Commands for operators: `turnpike cache …`. They use the same store as running gateways. */
export const commands: readonly PluginCommand<Options>[] = [
  { name: 'stats', summary: 'Shows the number, size and place of entries.', run: (call) => withShelf(call, stats) },
  {
    name: 'inspect',
    summary: 'Shows an entry, or entries that contain some words.',
    argument: {
      name: 'what',
      description: 'an entry’s id (`x-svc-cache-entry`), or words of its text',
      example: '"refund policy"',
    },
    run: (call) => withShelf(call, inspect),
  },
  {
    name: 'evict',
    summary: 'Deletes an entry or all, in running gateways too.',
    argument: { name: 'what', description: 'an entry’s id, or `all`', example: 'all' },
    run: (call) => withShelf(call, evict),
  },
]

interface Opened extends CommandCall<Options> {
  readonly shelf: Shelf
}

async function withShelf(call: CommandCall<Options>, work: (opened: Opened) => Promise<boolean>): Promise<boolean> {
  const shelf = await openShelf(call.options, call)
  if (shelf === undefined) {
    throw new GatewayError(
      'invalid_request',
      'Entries are in the memory of each gateway alone (`persist: false`): commands cannot see them.',
    )
  }
  try {
    return await work({ ...call, shelf })
  } finally {
    await shelf.close()
  }
}

/** Passes each entry to `work`; records of served answers are no entries. */
async function eachEntry(shelf: Shelf, work: (found: Listed) => void): Promise<void> {
  await shelf.list((listed) => {
    for (const found of listed) if (!found.key.startsWith(SERVED_PREFIX)) work(found)
  })
}

async function stats({ shelf, json, print }: Opened): Promise<boolean> {
  const counts = { entries: 0, bytes: 0 }
  await eachEntry(shelf, ({ bytes }) => {
    counts.entries++
    counts.bytes += bytes
  })
  const found = { engine: shelf.engine, ...counts }
  if (json) print(JSON.stringify(found))
  else for (const [name, value] of Object.entries(found)) print(`${name}: ${value}`)
  return true
}

async function inspect({ shelf, argument, json, print, clock }: Opened): Promise<boolean> {
  const shown: object[] = []
  let matches = 0
  await eachEntry(shelf, ({ key, head, bytes, expiresAtMs }) => {
    const found = headOf(Buffer.from(head))
    const id = entryOf(key)
    if (found === undefined) return
    if (id !== argument && !found.text.toLowerCase().includes(argument.toLowerCase())) return
    matches++
    const ageSeconds = Math.floor((clock.nowMs() - found.storedAtMs) / 1000)
    const expiresInSeconds = Math.floor((expiresAtMs - clock.nowMs()) / 1000)
    if (shown.length < MOST_SHOWN) shown.push({ id, ageSeconds, expiresInSeconds, bytes, text: found.text })
  })
  if (json) print(JSON.stringify({ matches, shown }))
  else {
    for (const entry of shown) print(`${linesOf(entry)}\n`)
    print(`${matches} found${matches > MOST_SHOWN ? `, the first ${MOST_SHOWN} shown` : ''}`)
  }
  return matches > 0
}

function linesOf(entry: object): string {
  return Object.entries(entry)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

async function evict({ shelf, argument, json, print }: Opened): Promise<boolean> {
  const isAll = argument === ALL
  const isEntry = argument.length === ENTRY_CHARACTERS
  const evicted = isAll || isEntry ? await shelf.evict(isAll ? '' : argument) : 0
  if (json) print(JSON.stringify({ evicted }))
  else print(`${evicted} evicted`)
  return evicted > 0 || isAll
}
