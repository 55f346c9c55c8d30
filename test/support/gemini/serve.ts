import type { IncomingMessage, ServerResponse } from 'node:http'
import { play } from '../provider/deliver.ts'
import { open, readBody } from '../provider/receive.ts'
import type { Delivery } from '../provider/script.ts'
import type { Serving } from '../provider/scripted.ts'
import { checkRequest, type GeminiRules, routeOf } from './check-request.ts'
import { toPayload } from './payload.ts'
import type { GeminiScript } from './script.ts'

type GeminiServing = Serving<GeminiScript, GeminiRules>

/** Reads a request, records it, checks it and answers it. Returns when the response has ended. */
export async function serve(request: IncomingMessage, response: ServerResponse, serving: GeminiServing): Promise<void> {
  const { journal, rules } = serving
  const { entry, exchange } = open(request, response, journal)
  const nth = serving.count()
  const isComplete = await readBody(request, entry)
  entry.refused = isComplete ? checkRequest(entry, rules) : undefined
  journal.record(entry)
  if (!isComplete) return
  const route = routeOf(entry)
  const context = {
    body: entry.json ?? {},
    nth,
    route,
    model: route?.model ?? '',
    url: entry.url,
    models: rules.models,
  }
  const script: GeminiScript = entry.refused
    ? { kind: 'error', ...entry.refused }
    : (serving.script(entry) ?? { kind: 'answer' })
  await play(script, exchange, (answered) => {
    const payload = toPayload(answered, context)
    return { ...payload, ...toWrites(answered, payload.body) }
  })
}

/** Adds the sizes of events: delivery cuts events at `\n\n`, which Google's streams do not have. */
function toWrites({ writes }: Delivery, body: Buffer): Pick<Delivery, 'writes'> {
  if (writes?.sizes !== 'events') return {}
  const events = body.toString('latin1').split(/(?<=\r\n\r\n|\n\n)/)
  return { writes: { ...writes, sizes: events.map(({ length }) => length) } }
}
