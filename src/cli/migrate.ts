import type { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { migrateDatabase } from '../stores/sql/engine/migrate.ts'
import { addHelp } from './help.ts'
import { commandLog } from './offline.ts'

/** Adds `turnpike migrate`: creates and migrates the tables, as a start-up does. */
export function addMigrateCommand(program: Command): void {
  const command = program
    .command('migrate')
    .description('Create or migrate the tables of the database; start-up does the same.')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { config } = loadConfig(process.env)
      const { database_url: databaseUrl, data_dir: dataDir } = config
      const steps = await migrateDatabase({ databaseUrl, dataDir, log: commandLog })
      if (json) return void process.stdout.write(`${JSON.stringify({ steps })}\n`)
      for (const step of steps) process.stdout.write(`${step}\n`)
      if (steps.length === 0) process.stdout.write('The tables are up to date.\n')
    })
  addHelp(command, {
    examples: ['turnpike migrate', 'DATABASE_URL=postgres://gateway@db/turnpike turnpike migrate'],
    exits: { 1: 'the database does not reply, or refuses the connection' },
  })
}
