import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { GatewayError } from '../core/errors.ts'
import { addHelp } from './help.ts'
import { withStore } from './with-store.ts'

/** Adds `turnpike account`: suspends and resumes accounts. */
export function addAccountCommand(program: Command): void {
  const account = program.command('account').description('Suspend and resume accounts.')
  const out = account
    .command('suspend')
    .description('Refuse an account’s keys and sessions, from their next request on.')
    .argument('<id>', 'the account, which is the user’s id')
    .option('--json', 'print JSON')
    .action((id: string, { json }: { json?: boolean }) => suspend(id, { isSuspended: true, json }))
  const back = account
    .command('resume')
    .description('Resume a suspended account.')
    .argument('<id>', 'the account, which is the user’s id')
    .option('--json', 'print JSON')
    .action((id: string, { json }: { json?: boolean }) => suspend(id, { isSuspended: false, json }))
  const exits = { 66: 'no such account' }
  addHelp(out, { examples: ['turnpike account suspend ada'], exits })
  addHelp(back, { examples: ['turnpike account resume ada'], exits })
}

async function suspend(
  id: string,
  { isSuspended, json }: { isSuspended: boolean; json: boolean | undefined },
): Promise<void> {
  const action = isSuspended ? 'account.suspended' : 'account.resumed'
  const audit = { id: `aud_${randomUUID()}`, accountId: id, actor: 'operator', action, subject: id }
  const isKnown = await withStore((store) => store.run('account.suspend', { id, isSuspended, audit }))
  if (!isKnown) throw new GatewayError('not_found', `There is no account \`${id}\`.`)
  if (json) return void process.stdout.write(`${JSON.stringify({ id, suspended: isSuspended })}\n`)
  process.stdout.write(`${id} is ${isSuspended ? 'suspended' : 'let in'}.\n`)
}
