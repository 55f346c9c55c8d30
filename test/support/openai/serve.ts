import type { IncomingMessage, ServerResponse } from 'node:http'
import { play } from '../provider/deliver.ts'
import { open, readBody } from '../provider/receive.ts'
import type { Serving } from '../provider/scripted.ts'
import { type ChatRules, checkRequest, routeOf } from './check-request.ts'
import { toPayload } from './payload.ts'
import type { ChatRejection } from './rejection.ts'
import type { ChatScript, Flavour } from './script.ts'

type ChatServing = Serving<ChatScript, ChatRules & { acceptAnything?: boolean; done?: boolean }>

/** OpenAI's header lines of every reply; the values are the same on every run. */
const rateLimits = {
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-limit-tokens': '200000',
  'x-ratelimit-remaining-requests': '9999',
  'x-ratelimit-remaining-tokens': '199000',
  'x-ratelimit-reset-requests': '6ms',
  'x-ratelimit-reset-tokens': '300ms',
}

/** Reads a request, records it, checks it and answers it. Returns when the response has ended. */
export async function serve(request: IncomingMessage, response: ServerResponse, serving: ChatServing): Promise<void> {
  const { journal, rules } = serving
  const { entry, exchange } = open(request, response, journal)
  const nth = serving.count()
  const isComplete = await readBody(request, entry)
  const refused = isComplete && !rules.acceptAnything ? checkRequest(entry, rules) : undefined
  entry.refused = refused
  journal.record(entry)
  if (!isComplete) return
  const { flavour = 'openai', models, done = true } = rules
  setHeaders(response, flavour, nth)
  const script: ChatScript = refused ? toScript(refused) : (serving.script(entry) ?? { kind: 'answer' })
  const context = { body: entry.json ?? {}, nth, flavour, route: routeOf(entry), done }
  const whole = models ? { ...context, models } : context
  await play(script, exchange, (answered) => toPayload(answered, whole))
}

function setHeaders(response: ServerResponse, flavour: Flavour, nth: number): void {
  response.setHeader('x-request-id', `req_standin${String(nth).padStart(21, '0')}`)
  if (flavour === 'compatible') return
  response.setHeader('openai-version', '2020-10-01')
  response.setHeader('openai-processing-ms', '42')
  for (const [name, value] of Object.entries(rateLimits)) response.setHeader(name, value)
}

function toScript({ status, type, message, param, code }: ChatRejection): ChatScript {
  const pointer = { ...(param === null ? {} : { param }), ...(code === null ? {} : { code }) }
  return { kind: 'error', status, type, message, ...pointer }
}
