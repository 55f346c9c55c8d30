import type { Command } from 'commander'
import type { ManagedKeyRecord } from '../../accounts/keys/managed-keys.ts'
import { addHelp } from '../help.ts'
import { addLimitOptions, type LimitOptions, limitsAfter, namesIn } from './limit-options.ts'
import { type Printed, printRow, printRows, refusedToday, spentToday } from './print.ts'
import { teamNamed } from './team.ts'
import { type Admin, MOST_LISTED, OPERATOR, withAdmin } from './with-admin.ts'

const EXITS = { 66: 'no such key' }

interface KeyOptions extends LimitOptions, Printed {
  readonly name?: string
  readonly team?: string
  readonly tags?: string
  readonly expires?: string
}

/** Adds `turnpike key`: creates, changes, rotates, suspends and revokes keys of all accounts. */
export function addKeyCommand(program: Command): void {
  const key = program.command('key').description('Create, change, rotate, suspend and revoke keys of all accounts.')
  const list = key
    .command('list')
    .description('List keys with their spend of today and refusals, newest first.')
    .option('--search <text>', 'part of an id, a name, a tag, a person or a team')
    .option('--json', 'print JSON, one key a line')
    .action(listKeys)
  addHelp(list, { examples: ['turnpike key list --search ada'] })
  const show = key
    .command('show')
    .description('Show a key.')
    .argument('<id>', 'the id of the key')
    .option('--json', 'print JSON')
    .action((id: string, options: Printed) => withAdmin(async ({ keys }) => printRow(await keys.show(id), options)))
  addHelp(show, { examples: ['turnpike key show key_…'], exits: EXITS })
  const create = addFields(
    key
      .command('create')
      .description('Create a key for a person. It is shown only here.')
      .argument('<person>', 'whose it is'),
  ).action((personId: string, options: KeyOptions) =>
    withAdmin(async (admin) => {
      const fields = admin.keys.parse({ personId, ...(await fieldsOf(admin, options, null)) })
      printRow(await admin.keys.create(OPERATOR, fields), options)
    }),
  )
  addHelp(create, { examples: ['turnpike key create ada --name laptop --team Compilers --per-day 5'] })
  const set = addFields(
    key
      .command('set')
      .description('Change a key, with effect from its next request on.')
      .argument('<id>', 'the id of the key'),
  ).action((id: string, options: KeyOptions) =>
    withAdmin(async (admin) => {
      const { limits } = await admin.keys.show(id)
      const fields = admin.keys.parseChange(await fieldsOf(admin, options, limits))
      printRow(await admin.keys.change(OPERATOR, id, fields), options)
    }),
  )
  addHelp(set, {
    examples: ['turnpike key set key_… --expires 2027-01-31', 'turnpike key set key_… --no-limits'],
    exits: EXITS,
  })
  addEnds(key)
}

/** Adds the commands that replace, stop or end a key. */
function addEnds(key: Command): void {
  const rotate = key
    .command('rotate')
    .description('Give a key a new secret, shown only here. The one before works for the overlap.')
    .argument('<id>', 'the id of the key')
    .option('--overlap <seconds>', 'seconds for which the secret before works', '3600')
    .option('--json', 'print JSON')
    .action((id: string, options: Printed & { overlap: string }) =>
      withAdmin(async ({ keys }) =>
        printRow(await keys.rotate(OPERATOR, id, { overlapSeconds: Number(options.overlap) }), options),
      ),
    )
  addHelp(rotate, { examples: ['turnpike key rotate key_… --overlap 86400'], exits: EXITS })
  const ends: readonly [name: string, words: string, act: (admin: Admin, id: string) => Promise<unknown>][] = [
    ['suspend', 'Refuse a key until it is resumed.', ({ keys }, id) => keys.suspend(OPERATOR, id, true)],
    ['resume', 'Resume a suspended key.', ({ keys }, id) => keys.suspend(OPERATOR, id, false)],
    ['revoke', 'Revoke a key permanently.', ({ keys }, id) => keys.revoke(OPERATOR, id)],
  ]
  for (const [name, words, act] of ends) {
    const command = key
      .command(name)
      .description(words)
      .argument('<id>', 'the id of the key')
      .option('--json', 'print JSON')
      .action(async (id: string, options: Printed) => {
        await withAdmin((admin) => act(admin, id))
        printRow({ id, done: name }, options)
      })
    addHelp(command, { examples: [`turnpike key ${name} key_…`], exits: EXITS })
  }
}

function addFields(command: Command): Command {
  return addLimitOptions(
    command
      .option('--name <name>', 'its name')
      .option('--team <team>', 'name or id of its team; empty for none')
      .option('--tags <tags>', 'its tags, separated by commas; empty for none')
      .option('--expires <date>', 'the moment from which it is refused, such as 2027-01-31; empty for never'),
  ).option('--json', 'print JSON')
}

async function fieldsOf(admin: Admin, options: KeyOptions, limits: object | null | undefined): Promise<object> {
  const { name, team, tags, expires } = options
  return {
    name,
    limits: limitsAfter(limits, options),
    ...(team !== undefined && { teamId: team === '' ? null : (await teamNamed(admin, team)).id }),
    ...(tags !== undefined && { tags: namesIn(tags) }),
    ...(expires !== undefined && { expiresAt: expires === '' ? null : momentOf(expires) }),
  }
}

/** Returns a day of UTC as its first moment; other texts as they are. */
function momentOf(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
}

async function listKeys({ search, json }: Printed & { search?: string }): Promise<void> {
  const keys = await withAdmin((admin) => admin.keys.list({ search, limit: MOST_LISTED }))
  const columns = {
    id: ({ id }: ManagedKeyRecord) => id,
    name: ({ name }: ManagedKeyRecord) => name ?? '',
    person: ({ personId }: ManagedKeyRecord) => personId,
    team: ({ teamName }: ManagedKeyRecord) => teamName ?? '',
    state: ({ revokedAt, suspendedAt }: ManagedKeyRecord) =>
      revokedAt !== null ? 'revoked' : suspendedAt === undefined ? 'active' : 'suspended',
    today: spentToday,
    refused: refusedToday,
  }
  printRows(keys, columns, { ...(json && { json }) })
}
