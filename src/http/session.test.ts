import test from 'ava'
import type { Context } from 'koa'
import { createSessionReader, type SessionReaderOptions } from './session.ts'

test('session: a request that reads its session again counts once, and finds its end', async (t) => {
  const scopes: string[] = []
  let hasEnded = false
  const options = {
    verify: async () => ({ userId: 'ada', claims: {} }),
    limits: {
      requests: {
        take: async (scope: string) => {
          scopes.push(scope)
          return { isAllowed: true, limit: 600, remaining: 599, windowMs: 60_000, resetMs: 100, retryMs: 0 }
        },
      },
    },
    openAccount: async () => ({ suspendedAtMs: hasEnded ? 1 : null, leads: [] }),
    isOperator: () => false,
  }
  // Safe: no other members are used for a request that changes nothing.
  const session = createSessionReader(options as unknown as SessionReaderOptions)
  const requestOf = () =>
    ({ req: { headers: { authorization: 'Bearer x' } }, method: 'GET', path: '/', set: () => {} }) as unknown as Context // safe: the same
  const ctx = requestOf()
  for (let i = 0; i < 5; i++) t.is((await session(ctx)).userId, 'ada')
  t.deepEqual(scopes, ['session:ada'])
  await session(requestOf())
  t.is(scopes.length, 2)
  hasEnded = true
  await t.throwsAsync(session(ctx), { code: 'permission_error' })
})
