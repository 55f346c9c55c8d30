import type { SignInStore } from '../../core/ports/sign-in.ts'
import { createSecret, hashOf } from './secrets.ts'

const LINK_TTL_MS = 60 * 60_000

/** Returns the secret of a new one-time link, valid for an hour; `undefined` when the gateway has an operator. */
export async function offerFirstOperator(store: SignInStore): Promise<string | undefined> {
  const secret = createSecret()
  return (await store.offerFirstOperator({ hash: hashOf(secret), ttlMs: LINK_TTL_MS })) ? secret : undefined
}

/** Binds a link to one browser; returns that browser’s secret, `undefined` for a link that is of no use to it. */
export async function bindFirstOperator(
  store: SignInStore,
  secret: string,
  browserSecret = createSecret(),
): Promise<string | undefined> {
  const link = { hash: hashOf(secret), browserHash: hashOf(browserSecret) }
  return (await store.bindFirstOperator(link)) ? browserSecret : undefined
}
