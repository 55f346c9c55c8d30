import type { TestFn } from 'ava'
import { createPglite } from './pglite/pglite.ts'
import { createPostgres, isPostgresExpected, type Owner, type Postgres, query } from './postgres.ts'

/** A database server that has the extension `vector`. */
export interface VectorServer extends Pick<Postgres, 'freeze' | 'thaw' | 'kill' | 'start'> {
  /** The address of an empty database; `user` gives it back at its end. */
  createDatabase(user: Owner): Promise<string>
}

/**
 * Starts one: PostgreSQL where the extension is installed for it; else PGlite, which is PostgreSQL with the extension
 * compiled to WebAssembly. It ends with its owner.
 */
export async function createVectorServer(owner: Owner): Promise<VectorServer> {
  if (!isPostgresExpected) return createPglite(owner)
  const server = await createPostgres(owner)
  const sql = "select 1 from pg_available_extensions where name = 'vector'"
  const [found] = await query(await server.createDatabase(), sql)
  if (found !== undefined) return server
  await server.kill()
  return createPglite(owner)
}

/** One for a whole file of tests, started when it is first asked for. To be called where tests are declared. */
export function vectorServerOfFile(test: TestFn): () => Promise<VectorServer> {
  const ends: (() => Promise<void>)[] = []
  let server: Promise<VectorServer> | undefined
  test.after.always(async () => {
    for (const end of ends) await end()
  })
  return () => {
    server ??= createVectorServer({ teardown: (end) => void ends.push(end) })
    return server
  }
}
