/**
 * A line of a test report: of mocha, jest, AVA (`✔ adds (3ms)`), of TAP (`ok 3 - adds # time=2ms`, `duration_ms: 2.94`), of
 * Go (`--- PASS: TestAdd (0.00s)`). Of other output, a benchmark's above all, times may be what was asked for.
 */
const REPORT = /^\s*(?:[✔✓√✖✗]|(?:not )?ok\b|PASS\b|FAIL\b|--- (?:PASS|FAIL|SKIP)\b|(?:# ?)?duration_ms\b)/
/** A duration as such reports print it: in brackets, behind an equals sign, alone at the end. */
const DURATION = /(?<=[([=\t ])\d+(?:\.\d+)?\s?(?:ns|[µu]s|ms|s|m)(?=[)\]]?\s*$)|(?<=duration_ms:? )\d+(?:\.\d+)?/g

/** A line of a test report with its duration made equal: two runs of the same tests differ in nothing else. */
export function foldTimes(line: string): string {
  return REPORT.test(line) ? line.replace(DURATION, '~') : line
}
