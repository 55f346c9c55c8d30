import type { IncomingMessage, ServerResponse } from 'node:http'
import { breakConnection, deliver, type Exchange, hang, sendGarbage } from '../provider/deliver.ts'
import { open, readBody } from '../provider/receive.ts'
import type { Delivery } from '../provider/script.ts'
import type { Serving } from '../provider/scripted.ts'
import { checkRequest, type GeminiRules, routeOf } from './check-request.ts'
import { type GeminiPayloadContext, toPayload } from './payload.ts'
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
  await play(script, exchange, context)
}

async function play(script: GeminiScript, exchange: Exchange, context: GeminiPayloadContext): Promise<void> {
  switch (script.kind) {
    case 'break':
      return breakConnection(script, exchange)
    case 'garbage':
      return sendGarbage(script, exchange)
    case 'hang':
      return hang(script, exchange)
    default: {
      const payload = toPayload(script, context)
      return deliver(payload, { ...script, ...toWrites(script, payload.body) }, exchange)
    }
  }
}

/** Adds the sizes of events: delivery cuts events at `\n\n`, which Google's streams do not have. */
function toWrites({ writes }: Delivery, body: Buffer): Pick<Delivery, 'writes'> {
  if (writes?.sizes !== 'events') return {}
  const events = body.toString('latin1').split(/(?<=\r\n\r\n|\n\n)/)
  return { writes: { ...writes, sizes: events.map(({ length }) => length) } }
}
