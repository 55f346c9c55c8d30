import type { Exchange } from '../core/request/exchange.ts'

/**
 * Returns the names of the canonical fields that plugins have changed: those whose bytes differ, and those that the client left
 * out and a plugin has set, also to the gateway's own value. `model` is always the target's.
 */
export function changedFields({
  client,
  request,
  assumed,
}: Pick<Exchange, 'client' | 'request' | 'assumed'>): string[] {
  const before = client.canonical
  const names = new Set([...before.shape.fields.keys(), ...request.shape.fields.keys()])
  names.delete('model')
  return [...names].filter((name) => {
    if (client.assumed.includes(name) && !assumed.includes(name)) return true
    const [was, is] = [before.raw(name), request.raw(name)]
    return was === undefined || is === undefined || !was.equals(is)
  })
}
