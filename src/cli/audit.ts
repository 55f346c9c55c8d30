import type { Command } from 'commander'
import { GatewayError } from '../core/errors.ts'
import type { AuditRecord } from '../core/ports/audit.ts'
import { duration } from '../core/units.ts'
import type { SqlStore } from '../stores/sql/store.ts'
import { addHelp } from './help.ts'
import { withStore } from './with-store.ts'

const agoOf = duration({ min: '1s', max: '3650d' })

interface AuditOptions {
  account?: string
  since?: string
  json?: boolean
}

/** Adds `turnpike audit`: prints the audit log of keys and accounts. */
export function addAuditCommand(program: Command): void {
  const command = program
    .command('audit')
    .description('Show the audit log of keys and accounts, oldest first.')
    .option('--account <id>', 'only entries of this account')
    .option('--since <when>', 'start: a date such as 2026-11-22 or 2026-11-22T08:00Z, or an age such as 7d')
    .option('--json', 'print JSON, one entry a line')
    .action(async ({ account, since, json }: AuditOptions) => {
      const sinceMs = since === undefined ? undefined : momentOf(since)
      const print = json ? jsonOf : lineOf
      await withStore(async (store) => {
        for await (const entry of entries(store, { accountId: account, sinceMs }))
          process.stdout.write(`${print(entry)}\n`)
      })
    })
  addHelp(command, {
    examples: ['turnpike audit --since 7d', 'turnpike audit --account ada --since 2026-11-22 --json'],
  })
}

/** Reads page by page, so that a long log takes no memory. */
async function* entries(
  store: SqlStore,
  query: { accountId: string | undefined; sinceMs: number | undefined },
): AsyncGenerator<AuditRecord> {
  let after: AuditRecord | undefined
  for (;;) {
    const page: AuditRecord[] = await store.run('audit.list', { ...query, after })
    if (page.length === 0) return
    yield* page
    after = page.at(-1)
  }
}

function momentOf(text: string): number {
  const ago = agoOf.safeParse(text)
  const atMs = ago.success ? Date.now() - ago.data : Date.parse(text)
  if (Number.isNaN(atMs))
    throw new GatewayError(
      'invalid_request',
      `--since: expected a date such as 2026-11-22, or a duration such as 7d, got \`${text}\`.`,
    )
  return atMs
}

function jsonOf({ atMs, ...entry }: AuditRecord): string {
  return JSON.stringify({ at: new Date(atMs).toISOString(), ...entry })
}

function lineOf({ atMs, accountId, actor, action, subject, details }: AuditRecord): string {
  const more = Object.keys(details).length === 0 ? '' : `  ${JSON.stringify(details)}`
  return `${new Date(atMs).toISOString()}  ${action.padEnd(18)}  ${subject}  of ${accountId}  by ${actor}${more}`
}
