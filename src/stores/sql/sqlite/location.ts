import path from 'node:path'

/** Returns the file of the SQLite database in the gateway's data folder. */
export function sqliteFile(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'turnpike.db')
}

/** Returns the file of telemetry beside it. */
export function telemetryFile(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'telemetry.db')
}
