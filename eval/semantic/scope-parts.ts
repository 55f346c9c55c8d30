import { RequestDocument } from 'turnpike/plugin'
import type { SharingScope } from 'turnpike/plugin/cache'
import { questionOf } from '../../plugins/semantic-cache/question.ts'
import { scopeOf } from '../../plugins/semantic-cache/scope.ts'
import { ClientRequest } from '../../src/core/request/client-request.ts'
import { Exchange } from '../../src/core/request/exchange.ts'

/** Parts of a request besides the last text. */
export interface Parts {
  tenant: string
  provider: string
  model: string
  system: string | null
  tools: string[]
  turns: string[]
  temperature: number | null
  topP: number | null
  beta: string
  sharing: SharingScope
}

/** Returns the cache's scope of a request with these parts. */
export function scopeOfParts(given: Parts, text: string): string {
  const { tenant, provider, model, system, tools, turns, temperature, topP, beta, sharing } = given
  const caller: Exchange['caller'] = { kind: 'key', scope: tenant, userId: `user of ${tenant}` }
  const messages = [
    ...turns.flatMap((turn) => [
      { role: 'user', content: turn },
      { role: 'assistant', content: turn },
    ]),
    { role: 'user', content: text },
  ]
  const body = {
    model: 'asked',
    max_tokens: 9,
    messages,
    ...(system !== null && { system }),
    ...(tools.length > 0 && { tools: tools.map((name) => ({ name })) }),
    ...(temperature !== null && { temperature }),
    ...(topP !== null && { top_p: topP }),
  }
  const exchange = new Exchange({
    id: 'req_1',
    route: 'messages',
    caller,
    credential: { header: 'authorization', secret: 'x' },
    headers: beta === '' ? {} : { 'anthropic-beta': beta },
    query: '',
    client: new ClientRequest(new RequestDocument(Buffer.from(JSON.stringify(body)))),
    request: undefined,
    targets: [{ provider, model }],
    signal: new AbortController().signal,
    reply: undefined,
    pipeline: 'semantic-cache',
    trace: [],
    edits: [],
    calls: [],
    supersededReplies: [],
    stored: {},
  })
  const question = questionOf(exchange)
  if (typeof question === 'string') throw new Error(question)
  return scopeOf(exchange, question, sharing)
}

/**
 * Returns the distinguishing identity of parts. Omitted: with `shared`, the owner of the key; an empty tool list,
 * removed above.
 */
export function identityOf(given: Parts): string {
  return JSON.stringify({ ...given, tenant: given.sharing === 'shared' ? '' : given.tenant })
}
