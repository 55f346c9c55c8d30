import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonObject } from './json.ts'
import { deliver, type Exchange, play as playScript } from './provider/deliver.ts'
import { createJournal, type SeenRequest } from './provider/journal.ts'
import { listen, type StandIn } from './provider/listen.ts'
import type { Payload, PayloadScript } from './provider/payload.ts'
import { open, readBody } from './provider/receive.ts'
import type { Rejection } from './provider/rejection.ts'
import type { Script } from './provider/script.ts'
import type { Chooser } from './provider/scripted.ts'

/*
 * DESIGN. The common part of the stand-ins for clouds: a real HTTP server on loopback, whose requests are distinguished by
 * the model in their path, so that concurrent tests each have a model of their own.
 *
 *   request ─▶ journal ─▶ understand ──refused──▶ the cloud's error
 *                           └─a call of a model─▶ script(request, nth) ─▶ the cloud's payload ─▶ delivery
 */

/** A request that the cloud accepts. */
export interface ModelCall {
  /** Name in the path, or in a token count's body. */
  model: string
  action: 'json' | 'stream' | 'count'
  /** The request in the Messages API's shape. */
  body: JsonObject
}

/** The particulars of one cloud. */
export interface Cloud {
  /** Parses a request, or returns its refusal. */
  understand(request: SeenRequest): ModelCall | { refused: Rejection & { name?: string } }
  payload(script: PayloadScript, call: ModelCall & { nth: number }): Payload
  refuse(refused: Rejection & { name?: string }): Payload
}

/** A running stand-in. */
export interface CloudServer extends StandIn {
  /** Requests that name a model, oldest first. */
  seenOf(model: string): readonly SeenRequest[]
  /** Sets the replies to valid requests of a model from now on, and counts `nth` from 1 again. */
  reply(model: string, script: Script | Chooser<Script>): void
}

/** Starts a cloud on a free loopback port. */
export async function startCloud(cloud: Cloud): Promise<CloudServer> {
  const journal = createJournal()
  const scripts = new Map<string, { choose: Chooser<Script>; nth: number }>()
  const play = async (call: ModelCall, exchange: Exchange, request: SeenRequest) => {
    const scripted = scripts.get(call.model) ?? { choose: () => undefined, nth: 0 }
    const script: Script = scripted.choose(request, ++scripted.nth) ?? { kind: 'answer' }
    await playScript(script, exchange, (answered) => cloud.payload(answered, { ...call, nth: scripted.nth }))
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { entry, exchange } = open(request, response, journal)
    const isComplete = await readBody(request, entry)
    const call = isComplete ? cloud.understand(entry) : undefined
    if (call !== undefined && 'refused' in call) entry.refused = call.refused
    journal.record(entry)
    if (call === undefined) return
    if ('refused' in call) await deliver(cloud.refuse(call.refused), {}, exchange)
    else await play(call, exchange, entry)
  }
  const standIn = await listen(journal, serve)
  return {
    ...standIn,
    seenOf: (model) => journal.seen.filter(({ url }) => decodeURIComponent(url).includes(`/${model}`)),
    reply: (model, script) =>
      void scripts.set(model, { choose: typeof script === 'function' ? script : () => script, nth: 0 }),
  }
}
