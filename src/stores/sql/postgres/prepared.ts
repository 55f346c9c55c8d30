import type pg from 'pg'

/**
 * Texts beyond those are sent without a name: lists of any length make texts without end, and the server keeps every
 * named one for as long as the connection lives.
 */
const MOST_NAMES = 200

/** Sends a statement on a connection. */
export type Send = (
  client: Pick<pg.ClientBase, 'query'>,
  text: string,
  values: readonly unknown[],
) => Promise<pg.QueryResult>

/**
 * Gives statements names, under which the server parses and plans each once for a connection, not each time: a third of
 * what it does for a request. Needs connections that stay with their server, or a pooler that knows prepared statements.
 */
export function prepareStatements(mostNames = MOST_NAMES): Send {
  const names = new Map<string, string>()
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text)
    if (known !== undefined || names.size >= mostNames) return known
    const name = `turnpike_${names.size + 1}`
    names.set(text, name)
    return name
  }
  return (client, text, values) => {
    const name = nameOf(text)
    return client.query({ ...(name !== undefined && { name }), text, values: [...values] })
  }
}
