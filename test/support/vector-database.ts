import { createPglite } from './pglite.ts'
import { createPostgres, isPostgresExpected, type Owner, type Postgres, query } from './postgres.ts'

/** A database server that has the extension `vector`. */
export type VectorServer = Pick<Postgres, 'createDatabase' | 'freeze' | 'thaw' | 'kill' | 'start'>

/**
 * Starts one: PostgreSQL where the extension is installed for it; else PGlite, which is PostgreSQL with the extension
 * compiled to WebAssembly. It ends with the test.
 */
export async function createVectorServer(owner: Owner): Promise<VectorServer> {
  if (!isPostgresExpected) return createPglite(owner)
  const server = await createPostgres(owner)
  const [found] = await query(await server.createDatabase(), "select 1 from pg_available_extensions where name = 'vector'")
  return found === undefined ? createPglite(owner) : server
}
