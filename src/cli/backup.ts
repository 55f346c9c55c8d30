import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { GatewayError } from '../core/errors.ts'
import { backUp } from '../stores/sql/sqlite/backup.ts'
import { sqliteFile } from '../stores/sql/sqlite/location.ts'

/** `turnpike backup`: copies the database while the gateway uses it. */
export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('Copy the database into a new file while the gateway uses it (SQLite).')
    .argument('<file>', 'where the copy is to be; must not exist')
    .addHelpText('after', '\nPut the copy back as turnpike.db in data_dir while the gateway is stopped.')
    .action(async (file: string) => {
      const { config } = loadConfig(process.env)
      if (config.database_url !== undefined)
        throw new GatewayError(
          'invalid_request',
          'A PostgreSQL database is backed up with its own tools: use `pg_dump`.',
        )
      await backUp(sqliteFile(config.data_dir), file)
      process.stdout.write(`Wrote ${file} (${statSync(file).size} bytes).\n`)
    })
}
