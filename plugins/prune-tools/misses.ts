import type { Exchange, Log } from 'turnpike/plugin'
import type { Plan } from './plan.ts'

const BLOCK_STARTS = new Set(['content_block_start'])

/**
 * Logs calls of dropped tools, which the model knows from the history. The call goes to the client, which has the tool,
 * and from then on the tool is in the list again.
 */
export function watchMisses({ id, reply }: Exchange, { fates, names }: Plan, log: Log): void {
  const dropped = new Set(names.filter((_, i) => fates[i] === 'drop'))
  if (dropped.size === 0 || reply === undefined) return
  const look = (block: unknown) => {
    const { type, name } = (block ?? {}) as { type?: unknown; name?: unknown }
    if (type === 'tool_use' && dropped.has(String(name))) log.warn({ id, tool: name }, 'prune-tools.missed')
  }
  if (reply.kind === 'stream') {
    reply.onEvent((_, data) => {
      if (data.includes('"tool_use"')) look(memberOf(data, 'content_block'))
    }, BLOCK_STARTS)
  } else if (reply.dialect.name === 'messages' && reply.status === 200 && reply.bytes.includes('"tool_use"')) {
    const content = memberOf(reply.bytes.toString(), 'content')
    if (Array.isArray(content)) content.forEach(look)
  }
}

/** Returns a member of the object in `json`; an invalid reply is left to the client. */
function memberOf(json: string, name: string): unknown {
  try {
    return JSON.parse(json)?.[name]
  } catch {
    return undefined
  }
}
