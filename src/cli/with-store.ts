import { openSandboxDatabase } from '../app/sandbox.ts'
import { loadConfig } from '../config/load.ts'
import { openSqlStore, type SqlStore } from '../stores/sql/store.ts'
import { commandLog } from './offline.ts'

type Work<Result> = (store: SqlStore) => Promise<Result>

const clock = { nowMs: () => Date.now() }

/** Opens the configuration's database for a command, while the gateway may be using it. */
export async function withStore<Result>(work: Work<Result>): Promise<Result> {
  const { database_url: databaseUrl, data_dir: dataDir } = loadConfig(process.env).config
  return during(await openSqlStore({ databaseUrl, dataDir, log: commandLog, clock }), work)
}

/** Opens the database of the sandbox's payments for a command. */
export async function withSandboxStore<Result>(work: Work<Result>): Promise<Result> {
  const { config } = loadConfig(process.env)
  return during(await openSandboxDatabase({ config, log: commandLog, clock }), work)
}

async function during<Result>(store: SqlStore, work: Work<Result>): Promise<Result> {
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
