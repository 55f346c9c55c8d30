import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { startCloudGateway } from '../support/accounts.ts'
import { createMigratedDatabase } from '../support/migrated-database.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const OPERATOR_KEY = 'sk-ant-operator-key'

/** Starts so many gateways on one PostgreSQL database and one provider, without a rate limit; all end with the test. */
export async function startOnPostgres(t: ExecutionContext, count: number) {
  const databaseUrl = await createMigratedDatabase()
  const provider = await startProvider({ apiKey: OPERATOR_KEY })
  t.teardown(provider.close)
  // The key of receipts is one for all gateways on a database.
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-gateways-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const env = {
    SVC_DATA_DIR: folder,
    DATABASE_URL: databaseUrl,
    ANTHROPIC_API_KEY: OPERATOR_KEY,
    ANTHROPIC_BASE_URL: provider.url,
    SVC_RATE_LIMIT: '0',
  }
  const gateways = await Promise.all(Array.from({ length: count }, () => startCloudGateway(env)))
  for (const { stop } of gateways) t.teardown(async () => void (await stop()))
  const [one] = gateways
  if (one === undefined) throw new Error('Expected at least one gateway.')
  return { databaseUrl, provider, gateways, one }
}
