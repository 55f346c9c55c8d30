import type { Exchange } from './exchange.ts'

/**
 * Returns whether a request reads or changes what its provider stores, so that an equal request has another answer: one of a
 * stored conversation, which grows with each reply, or one in the background, whose reply is only its beginning.
 */
export function usesStoredState({ dialect, client: { document } }: Pick<Exchange, 'dialect' | 'client'>): boolean {
  if (dialect.name !== 'responses') return false
  return (document.field('conversation') ?? null) !== null || document.field('background') === true
}
