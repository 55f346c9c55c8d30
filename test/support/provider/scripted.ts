import type { IncomingMessage, ServerResponse } from 'node:http'
import { createJournal, type Journal, type SeenRequest } from './journal.ts'
import { listen, type StandIn } from './listen.ts'

/** Chooses what happens to the nth valid request since `reply()` (from 1); `undefined` is the default answer. */
export type Chooser<Script> = (request: SeenRequest, nth: number) => Script | undefined

/** One script for every valid request, or a choice among them. */
export type Scripts<Script> = Script | Chooser<Script> | undefined

/** A running stand-in whose replies a test scripts. */
export interface Scripted<Script> extends StandIn {
  /** Sets what happens to valid requests from now on, and counts `nth` from 1 again. */
  reply(scripts: Scripts<Script>): void
}

/** What serving a request needs to know of its stand-in. */
export interface Serving<Script, Rules> {
  journal: Journal
  rules: Rules
  /** Number of requests so far, this one included. */
  count(): number
  /** Asked once for each valid request. */
  script(request: SeenRequest): Script | undefined
}

/** Serves on a free loopback port, by `rules`, what `rules.script` says until `reply()` says otherwise. */
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
