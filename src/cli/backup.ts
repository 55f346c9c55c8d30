import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { GatewayError } from '../core/errors.ts'
import { assertNew, backUp } from '../stores/sql/sqlite/backup.ts'
import { sqliteFile, telemetryFile } from '../stores/sql/sqlite/location.ts'
import { addHelp } from './help.ts'

/** Adds `turnpike backup`: copies the databases while the gateway uses them. */
export function addBackupCommand(program: Command): void {
  const command = program
    .command('backup')
    .description(
      'Copy the database into a new file while the gateway uses it (SQLite), and telemetry into another beside it.',
    )
    .argument('<file>', 'path of the copy; must not exist')
    .option('--json', 'print JSON, one file a line')
    .action(async (file: string, { json = false }: { json?: boolean }) => {
      const { config } = loadConfig(process.env)
      if (config.database_url !== undefined)
        throw new GatewayError(
          'invalid_request',
          'A PostgreSQL database is backed up with its own tools: use `pg_dump`.',
        )
      const telemetry = telemetryFile(config.data_dir)
      const telemetryCopy = besideOf(file)
      if (existsSync(telemetry)) assertNew(telemetryCopy)
      await write(sqliteFile(config.data_dir), file, json)
      if (existsSync(telemetry)) await write(telemetry, telemetryCopy, json)
    })
  addHelp(command, {
    examples: ['turnpike backup backups/2026-11-22.db'],
    exits: { 2: 'the file exists, or the database is not SQLite', 66: 'there is no database' },
    notes: [
      'Put the copy back as turnpike.db in data_dir while the gateway is stopped.\nThe copy of telemetry has `.telemetry` before its ending, as in copy.telemetry.db; it goes back as telemetry.db.',
    ],
  })
}

/** `copy.db` → `copy.telemetry.db`. */
function besideOf(file: string): string {
  const { dir, name, ext } = path.parse(file)
  return path.join(dir, `${name}.telemetry${ext}`)
}

async function write(source: string, target: string, isJson: boolean): Promise<void> {
  await backUp(source, target)
  const { size } = statSync(target)
  process.stdout.write(
    isJson ? `${JSON.stringify({ file: target, bytes: size })}\n` : `Wrote ${target} (${size} bytes).\n`,
  )
}
