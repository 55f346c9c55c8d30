import { GatewayError } from 'turnpike/plugin'
import type { Loop } from './find-loop.ts'

/** Returns the header's value: `kind=call; times=4; states=1`. */
export function headerOf({ kind, times, states }: Loop): string {
  return `kind=${kind}; times=${times}; states=${states}`
}

/** Returns the refusal of a request whose conversation repeats itself. */
export function loopRefusal(loop: Loop): GatewayError {
  const message = `This conversation repeats itself: ${observationOf(loop)}. Do something else, or ask the user. It goes on with the next request that has a new message of the user, or another step in place of the repeated one.`
  return new GatewayError('invalid_request', message, {
    detail: 'conversation_repeats',
    fields: { kind: loop.kind, times: loop.times, states: loop.states, tools: loop.tools },
    // A retry of the same request has the same history.
    headers: { 'x-should-retry': 'false' },
  })
}

function observationOf({ kind, times, states, tools }: Loop): string {
  const names = tools.map((name) => `\`${name}\``).join(', ')
  const observations = {
    call: `${names} was called ${times} times with the same arguments and the same result`,
    error: `${names} failed ${times} times with the same error`,
    arguments: `${names} was called ${times} times with arguments that differ only in numbers, times or ids, and had the same result`,
    results: `${times} different calls of ${names} had the same result`,
    alternation: `the same ${states} steps (${names === '' ? 'texts' : names}) alternated ${times} times with the same results`,
    text: `the same text came ${times} times`,
  }
  return observations[kind]
}
