import path from 'node:path'
import type { Config } from './schema.ts'

/** Returns a plugin's data folder and the shared stores of all instances. */
export function placesOf(
  plugin: string,
  { data_dir: dataDir, redis_url: redisUrl, database_url: databaseUrl }: Config,
) {
  return { folder: path.resolve(dataDir, 'plugins', plugin), engines: { redisUrl, databaseUrl } }
}
