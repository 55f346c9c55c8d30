import type { Command } from 'commander'
import { addHelp } from '../help.ts'
import { addLimitOptions, type LimitOptions, limitsAfter } from './limit-options.ts'
import { type Printed, printRow, printRows, refusedToday, spentToday } from './print.ts'
import { MOST_LISTED, OPERATOR, withAdmin } from './with-admin.ts'

const EXITS = { 66: 'no such person' }

/** Adds `turnpike person`: lists, changes, suspends and resumes people. */
export function addPersonCommand(program: Command): void {
  const person = program.command('person').description('List, change, suspend and resume people.')
  const list = person
    .command('list')
    .description('List people with their teams, spend of today and refusals.')
    .option('--search <text>', 'part of an id, a name or an e-mail address')
    .option('--json', 'print JSON, one person a line')
    .action(listPeople)
  addHelp(list, { examples: ['turnpike person list', 'turnpike person list --search ada --json'] })
  const show = person
    .command('show')
    .description('Show a person.')
    .argument('<id>', 'the person')
    .option('--json', 'print JSON')
    .action((id: string, options: Printed) => withAdmin(async ({ people }) => printRow(await people.show(id), options)))
  addHelp(show, { examples: ['turnpike person show ada'], exits: EXITS })
  const set = addLimitOptions(
    person
      .command('set')
      .description('Change a person, who is created if unknown, with effect from the next request on.')
      .argument('<id>', 'the person, as the identity provider names it')
      .option('--name <name>', 'the name that is shown')
      .option('--email <address>', 'the e-mail address')
      .option('--role <role>', 'viewer, member or operator'),
  )
    .option('--json', 'print JSON')
    .action(setPerson)
  addHelp(set, {
    examples: ['turnpike person set ada --role operator', 'turnpike person set ada --per-day 20 --models "claude-*"'],
  })
  for (const [action, words] of [
    ['suspend', 'Refuse a person’s keys and sessions, from their next request on.'],
    ['resume', 'Resume a suspended person.'],
  ] as const) {
    const command = person
      .command(action)
      .description(words)
      .argument('<id>', 'the person')
      .option('--json', 'print JSON')
      .action((id: string, options: Printed) =>
        withAdmin(async ({ people }) => {
          await people.suspend(OPERATOR, id, action === 'suspend')
          printRow({ id, suspended: action === 'suspend' }, options)
        }),
      )
    addHelp(command, { examples: [`turnpike person ${action} ada`], exits: EXITS })
  }
}

async function listPeople({ search, json }: Printed & { search?: string }): Promise<void> {
  const people = await withAdmin((admin) => admin.people.list({ search, limit: MOST_LISTED }))
  const columns = {
    id: ({ id }: (typeof people)[number]) => id,
    name: ({ name }: (typeof people)[number]) => name ?? '',
    role: ({ role, suspendedAt }: (typeof people)[number]) => (suspendedAt === null ? role : `${role}, suspended`),
    teams: ({ teams }: (typeof people)[number]) => teams.map(({ name }) => name).join(', '),
    today: spentToday,
    refused: refusedToday,
  }
  printRows(people, columns, { ...(json && { json }) })
}

interface SetOptions extends LimitOptions, Printed {
  readonly name?: string
  readonly email?: string
  readonly role?: string
}

async function setPerson(id: string, options: SetOptions): Promise<void> {
  const { name, email, role } = options
  await withAdmin(async ({ people }) => {
    const [known] = await people.list({ id, limit: 1 })
    const fields = { name, email, role, limits: limitsAfter(known?.limits, options) }
    const changed =
      known === undefined ? await people.create(OPERATOR, { id, ...fields }) : await people.change(OPERATOR, id, fields)
    printRow(changed, options)
  })
}
