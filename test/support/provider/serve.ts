import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkRequest, type RequestRules, routeOf } from './check-request.ts'
import { play } from './deliver.ts'
import { toPayload } from './payload.ts'
import { open, readBody } from './receive.ts'
import type { Script } from './script.ts'
import type { Serving } from './scripted.ts'

type MessagesServing = Serving<Script, RequestRules & { acceptAnything?: boolean }>

/** Reads a request, records it, checks it and answers it. Returns when the response has ended. */
export async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  serving: MessagesServing,
): Promise<void> {
  const { journal, rules } = serving
  const { entry, exchange } = open(request, response, journal)
  const nth = serving.count()
  const isComplete = await readBody(request, entry)
  entry.refused = isComplete && !rules.acceptAnything ? checkRequest(entry, rules) : undefined
  journal.record(entry)
  if (!isComplete) return
  const requestId = `req_01StandIn${String(nth).padStart(15, '0')}`
  response.setHeader('request-id', requestId)
  response.setHeader('anthropic-ratelimit-requests-limit', '4000')
  response.setHeader('anthropic-ratelimit-requests-remaining', '3999')
  const context = { body: entry.json ?? {}, nth, route: routeOf(entry), url: entry.url, requestId }
  const script: Script = entry.refused
    ? { kind: 'error', ...entry.refused }
    : (serving.script(entry) ?? { kind: 'answer' })
  const whole = rules.models ? { ...context, models: rules.models } : context
  await play(script, exchange, (answered) => toPayload(answered, whole))
}
