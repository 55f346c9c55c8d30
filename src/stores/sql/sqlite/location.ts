import path from 'node:path'

/** The file of the SQLite database in the gateway's data folder. */
export function sqliteFile(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'turnpike.db')
}

/** The file of telemetry beside it. */
export function telemetryFile(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'telemetry.db')
}
