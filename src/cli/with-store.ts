import { loadConfig } from '../config/load.ts'
import { openSqlStore, type SqlStore } from '../stores/sql/store.ts'
import { commandLog } from './offline.ts'

/** Opens the configuration's database for a command, while the gateway may be using it. */
export async function withStore<Result>(work: (store: SqlStore) => Promise<Result>): Promise<Result> {
  const { database_url: databaseUrl, data_dir: dataDir } = loadConfig(process.env).config
  const clock = { nowMs: () => Date.now() }
  const store = await openSqlStore({ databaseUrl, dataDir, log: commandLog, clock })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
