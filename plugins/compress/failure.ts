/** Matches the first or last line of a failure: an error name, a trace, an exit code. */
const FAILURE =
  /^\s*(?:(?:[\w.]*(?:Error|Exception)|error|fatal|panic|traceback|command failed|npm ERR!|npm error)\b|.{0,80}\bexit(?:ed)?(?: with)?(?: code| status)?:? [1-9])/i
const LONGEST_LINE = 400

/** Tests for an explicit failure in a result's text: not every client marks it. */
export function tellsFailure(text: string): boolean {
  const whole = text.trim()
  const first = whole.slice(0, LONGEST_LINE).split('\n', 1)[0] ?? ''
  const last = whole.slice(whole.lastIndexOf('\n') + 1).slice(0, LONGEST_LINE)
  return FAILURE.test(first) || FAILURE.test(last)
}
