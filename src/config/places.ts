import path from 'node:path'
import type { Config } from './schema.ts'

/** Where a plugin may keep things, and where instances meet. */
export function placesOf(
  plugin: string,
  { data_dir: dataDir, redis_url: redisUrl, database_url: databaseUrl }: Config,
) {
  return { folder: path.resolve(dataDir, 'plugins', plugin), engines: { redisUrl, databaseUrl } }
}
