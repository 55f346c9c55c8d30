import { randomBytes } from 'node:crypto'
import type pg from 'pg'

/**
 * Texts beyond this number are sent without a name: lists of any length produce unbounded texts, and the server keeps
 * every named one for as long as the connection lives.
 */
const MOST_NAMES = 200

type Client = Pick<pg.ClientBase, 'query'>

/** Sends a statement on a connection. */
export type Send = (client: Client, text: string, values: readonly unknown[]) => Promise<pg.QueryResult>

/**
 * Names statements, so that the server parses and plans each once per connection, not each time: a third of
 * its work for a request. Needs connections that stay with their server, or a pooler that supports prepared statements.
 */
export function prepareStatements(mostNames = MOST_NAMES): Send {
  const numbers = new Map<string, number>()
  const prefixes = new WeakMap<Client, string>()
  const numberOf = (text: string): number | undefined => {
    if (!numbers.has(text) && numbers.size < mostNames) numbers.set(text, numbers.size + 1)
    return numbers.get(text)
  }
  // A server with one session for all connections, such as PGlite, shares their names.
  const prefixOf = (client: Client): string => {
    const prefix = prefixes.get(client) ?? randomBytes(6).toString('hex')
    prefixes.set(client, prefix)
    return prefix
  }
  return (client, text, values) => {
    const number = numberOf(text)
    return client.query({ ...(number && { name: `${prefixOf(client)}_${number}` }), text, values: [...values] })
  }
}
