import type { Command } from 'commander'
import type { ListedTeam } from '../../accounts/people/teams.ts'
import { GatewayError } from '../../core/errors.ts'
import { addHelp } from '../help.ts'
import { addLimitOptions, type LimitOptions, limitsAfter } from './limit-options.ts'
import { type Printed, printRow, printRows, refusedToday, spentToday } from './print.ts'
import { type Admin, MOST_LISTED, OPERATOR, withAdmin } from './with-admin.ts'

const EXITS = { 66: 'no such team' }

/** Adds `turnpike team`: creates teams, caps them, and sets their members. */
export function addTeamCommand(program: Command): void {
  const team = program.command('team').description('Create teams, cap them, and set their members.')
  const list = team
    .command('list')
    .description('List teams with their spend of today and refusals.')
    .option('--json', 'print JSON, one team a line')
    .action(listTeams)
  addHelp(list, { examples: ['turnpike team list'] })
  const show = team
    .command('show')
    .description('Show a team and its members.')
    .argument('<team>', 'its name or id')
    .option('--json', 'print JSON')
    .action((name: string, options: Printed) =>
      withAdmin(async (admin) => printRow(await teamNamed(admin, name), options)),
    )
  addHelp(show, { examples: ['turnpike team show Compilers'], exits: EXITS })
  const create = addLimitOptions(team.command('create').description('Create a team.').argument('<name>', 'its name'))
    .option('--json', 'print JSON')
    .action((name: string, options: LimitOptions & Printed) =>
      withAdmin(async ({ teams }) =>
        printRow(await teams.create(OPERATOR, { name, limits: limitsAfter(null, options) }), options),
      ),
    )
  addHelp(create, { examples: ['turnpike team create Compilers --per-day 50'] })
  addTeamChanges(team)
}

function addTeamChanges(team: Command): void {
  const set = addLimitOptions(
    team
      .command('set')
      .description('Change a team, with effect from the next request on.')
      .argument('<team>', 'its name or id')
      .option('--name <name>', 'another name'),
  )
    .option('--json', 'print JSON')
    .action((name: string, options: LimitOptions & Printed & { name?: string }) =>
      withAdmin(async (admin) => {
        const { id, limits } = await teamNamed(admin, name)
        const fields = { name: options.name, limits: limitsAfter(limits, options) }
        printRow(await admin.teams.change(OPERATOR, id, fields), options)
      }),
    )
  addHelp(set, { examples: ['turnpike team set Compilers --per-day 50'], exits: EXITS })
  const add = team
    .command('add')
    .description('Put a person into a team, or change the role there.')
    .argument('<team>', 'its name or id')
    .argument('<person>', 'the person')
    .option('--lead', 'the person leads the team')
    .option('--json', 'print JSON')
    .action((name: string, accountId: string, options: Printed & { lead?: boolean }) =>
      withAdmin(async (admin) => {
        const { id: teamId } = await teamNamed(admin, name)
        const body = { role: options.lead ? 'lead' : 'member' }
        const role = await admin.teams.setMember(OPERATOR, { teamId, accountId }, body)
        printRow({ team: teamId, person: accountId, role }, options)
      }),
    )
  addHelp(add, { examples: ['turnpike team add Compilers ada --lead'], exits: EXITS })
  const remove = team
    .command('remove')
    .description('Take a person out of a team, and suspend the person’s keys of it.')
    .argument('<team>', 'its name or id')
    .argument('<person>', 'the person')
    .option('--json', 'print JSON')
    .action((name: string, accountId: string, options: Printed) =>
      withAdmin(async (admin) => {
        const { id: teamId } = await teamNamed(admin, name)
        await admin.teams.removeMember(OPERATOR, { teamId, accountId })
        printRow({ team: teamId, person: accountId, role: null }, options)
      }),
    )
  addHelp(remove, { examples: ['turnpike team remove Compilers ada'], exits: EXITS })
  const archive = team
    .command('archive')
    .description('Archive a team: it takes no members and no keys. Its limits stay.')
    .argument('<team>', 'its name or id')
    .option('--undo', 'take it out of the archive')
    .option('--json', 'print JSON')
    .action((name: string, options: Printed & { undo?: boolean }) =>
      withAdmin(async (admin) => {
        const { id } = await teamNamed(admin, name)
        printRow(await admin.teams.change(OPERATOR, id, { archived: options.undo !== true }), options)
      }),
    )
  addHelp(archive, { examples: ['turnpike team archive Compilers'], exits: EXITS })
}

async function listTeams({ json }: Printed): Promise<void> {
  const teams = await withAdmin((admin) => admin.teams.list({ limit: MOST_LISTED }))
  const columns = {
    id: ({ id }: ListedTeam) => id,
    name: ({ name, archivedAt }: ListedTeam) => (archivedAt === null ? name : `${name} (archived)`),
    members: ({ members }: ListedTeam) => String(members.length),
    keys: ({ keys }: ListedTeam) => String(keys),
    today: spentToday,
    refused: refusedToday,
  }
  printRows(teams, columns, { ...(json && { json }) })
}

/** Finds a team by its id or its name, in any case. Throws `not_found`. */
export async function teamNamed({ teams }: Pick<Admin, 'teams'>, name: string): Promise<ListedTeam> {
  const found = (await teams.list({ search: name, limit: MOST_LISTED })).find(
    (team) => team.id === name || team.name.toLowerCase() === name.toLowerCase(),
  )
  if (found === undefined) throw new GatewayError('not_found', `There is no team \`${name}\`.`)
  return found
}
