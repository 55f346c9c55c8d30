import type { IncomingMessage, ServerResponse } from 'node:http'
import { createJournal, type Journal, type SeenRequest } from './journal.ts'
import { listen, type StandIn } from './listen.ts'

/** Chooses the script of the nth valid request since `reply()` (from 1); `undefined` is the default reply. */
export type Chooser<Script> = (request: SeenRequest, nth: number) => Script | undefined

/** One script for every valid request, or a choice among them. */
export type Scripts<Script> = Script | Chooser<Script> | undefined

/** A running stand-in whose replies a test scripts. */
export interface Scripted<Script> extends StandIn {
  /** Sets the scripts of valid requests from now on, and counts `nth` from 1 again. */
  reply(scripts: Scripts<Script>): void
}

/** A stand-in's state for serving a request. */
export interface Serving<Script, Rules> {
  journal: Journal
  rules: Rules
  /** Returns the number of requests so far, this one included. */
  count(): number
  /** Called once for each valid request. */
  script(request: SeenRequest): Script | undefined
}

/** Serves on a free loopback port, by `rules`, with `rules.script` until `reply()` replaces it. */
export async function startScripted<Script extends object, Rules extends { script?: Scripts<Script> }>(
  rules: Rules,
  serve: (request: IncomingMessage, response: ServerResponse, serving: Serving<Script, Rules>) => Promise<void>,
): Promise<Scripted<Script>> {
  const journal = createJournal()
  let received = 0
  let nth = 0
  let scripts: Scripts<Script> = rules.script
  const script = (request: SeenRequest) => {
    nth++
    return typeof scripts === 'function' ? scripts(request, nth) : scripts
  }
  const serving = { journal, rules, count: () => ++received, script }
  const standIn = await listen(journal, (request, response) => serve(request, response, serving))
  const reply = (next: Scripts<Script>) => {
    scripts = next
    nth = 0
  }
  return { ...standIn, reply }
}
