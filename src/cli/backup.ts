import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { GatewayError } from '../core/errors.ts'
import { assertNew, backUp } from '../stores/sql/sqlite/backup.ts'
import { sqliteFile, telemetryFile } from '../stores/sql/sqlite/location.ts'

/** `turnpike backup`: copies the databases while the gateway uses them. */
export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description(
      'Copy the database into a new file while the gateway uses it (SQLite), and telemetry into another beside it.',
    )
    .argument('<file>', 'where the copy is to be; must not exist')
    .addHelpText(
      'after',
      '\nPut the copy back as turnpike.db in data_dir while the gateway is stopped.\nThe copy of telemetry has `.telemetry` before its ending, as in copy.telemetry.db; it goes back as telemetry.db.',
    )
    .action(async (file: string) => {
      const { config } = loadConfig(process.env)
      if (config.database_url !== undefined)
        throw new GatewayError(
          'invalid_request',
          'A PostgreSQL database is backed up with its own tools: use `pg_dump`.',
        )
      const telemetry = telemetryFile(config.data_dir)
      const telemetryCopy = besideOf(file)
      if (existsSync(telemetry)) assertNew(telemetryCopy)
      await write(sqliteFile(config.data_dir), file)
      if (existsSync(telemetry)) await write(telemetry, telemetryCopy)
    })
}

/** `copy.db` → `copy.telemetry.db`. */
function besideOf(file: string): string {
  const { dir, name, ext } = path.parse(file)
  return path.join(dir, `${name}.telemetry${ext}`)
}

async function write(source: string, target: string): Promise<void> {
  await backUp(source, target)
  process.stdout.write(`Wrote ${target} (${statSync(target).size} bytes).\n`)
}
