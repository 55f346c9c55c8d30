import type { Command } from 'commander'
import type { TagRecord } from '../../accounts/people/tags.ts'
import { addHelp } from '../help.ts'
import { type Printed, printRow, printRows, spentToday } from './print.ts'
import { OPERATOR, withAdmin } from './with-admin.ts'

/** Adds `turnpike tag`: lists and sets the limits of tags. */
export function addTagCommand(program: Command): void {
  const tag = program.command('tag').description('List and set the limits of tags.')
  const list = tag
    .command('list')
    .description('List the tags that have limits, with their spend of today.')
    .option('--json', 'print JSON, one tag a line')
    .action(async (options: Printed) => {
      const tags = await withAdmin((admin) => admin.tags.list())
      printRows(tags, { tag: ({ name }: TagRecord) => name, today: spentToday }, options)
    })
  addHelp(list, { examples: ['turnpike tag list'] })
  const set = tag
    .command('set')
    .description('Set the limits of a tag, with effect from the next request on; none removes them.')
    .argument('<tag>', 'the tag')
    .option('--per-day <usd>', 'most USD in a day', Number)
    .option('--per-month <usd>', 'most USD in a month', Number)
    .option('--json', 'print JSON')
    .action(async (name: string, { perDay, perMonth, json }: Printed & { perDay?: number; perMonth?: number }) => {
      const limits = {
        ...(perDay !== undefined && { costPerDay: perDay }),
        ...(perMonth !== undefined && { costPerMonth: perMonth }),
      }
      printRow(await withAdmin((admin) => admin.tags.set(OPERATOR, name, { limits })), { ...(json && { json }) })
    })
  addHelp(set, { examples: ['turnpike tag set nightly --per-day 10'] })
}
