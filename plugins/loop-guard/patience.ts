import type { Call, Step } from './steps.ts'

/** Tools that wait for something, or show the output of something that runs. */
const WAITING_TOOL = /(?:^|[^a-z])(?:wait|sleep|poll)|(?:Bash|Task|Agent|Shell|Command)_?Output$|write_stdin/i
const WAITING_COMMAND = /\b(?:sleep|Start-Sleep|timeout \/t)[ (]/i
/** Longest result that has a state, by its name, and longest one that is nothing else. */
const LONGEST_WITH_STATE = 2000
const LONGEST_STATE = 120
const WORDS = String.raw`(?:running|pending|in[ _-]?progress|queued|building|waiting|not (?:yet )?ready|processing|starting|provisioning|scheduled)\b`
const STATE = new RegExp(String.raw`\b(?:status|state|phase)\W{1,6}${WORDS}`, 'i')
const PENDING = new RegExp(String.raw`\b${WORDS}`, 'i')
/** Matches the end of something: a runner of tests prints that it runs them, too. */
const ENDED = /fail|passed|finished|done|✖|✔|✗|✓/i
/** Tools that move in something that the request does not show: a page, a list, a debugger. */
const ACTING_TOOL =
  /(?:^|[_.-])(?:click|press|key|scroll|swipe|tap|move|drag|hover|type|next|prev|previous|back|forward|undo|redo|step|zoom|mouse)(?:[_.-]|$)/i
/** Longest result that only confirms an action. */
const LONGEST_CONFIRMATION = 64

/** Tests for a step that waits: its result may well be the same for a time. */
export function isWaiting({ calls }: Step): boolean {
  return calls.some((call) => !call.isError && waits(call))
}

function waits({ name, input, result }: Call): boolean {
  if (WAITING_TOOL.test(name)) return true
  const command = input.command ?? input.cmd
  if (typeof command === 'string' && WAITING_COMMAND.test(command.slice(0, 4096))) return true
  if (result.length <= LONGEST_WITH_STATE && STATE.test(result)) return true
  return result.length <= LONGEST_STATE && PENDING.test(result) && !ENDED.test(result)
}

/** Tests for a step of actions whose effect is not in the request, as the same key pressed several times. */
export function isActing({ calls }: Step): boolean {
  return (
    calls.length > 0 &&
    calls.every(
      ({ name, result, isError }) => !isError && ACTING_TOOL.test(name) && result.length <= LONGEST_CONFIRMATION,
    )
  )
}
