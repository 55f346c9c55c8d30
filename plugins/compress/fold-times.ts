/**
 * Matches a line of a test report: of mocha, jest, AVA (`✔ adds (3ms)`), of TAP (`ok 3 - adds # time=2ms`,
 * `duration_ms: 2.94`), of Go (`--- PASS: TestAdd (0.00s)`). In other output, especially benchmarks, times may be the
 * purpose.
 */
const REPORT = /^\s*(?:[✔✓√✖✗]|(?:not )?ok\b|PASS\b|FAIL\b|--- (?:PASS|FAIL|SKIP)\b|(?:# ?)?duration_ms\b)/
/** Matches a duration in such reports: in brackets, behind an equals sign, alone at the end. */
const DURATION = /(?<=[([=\t ])\d+(?:\.\d+)?\s?(?:ns|[µu]s|ms|s|m)(?=[)\]]?\s*$)|(?<=duration_ms:? )\d+(?:\.\d+)?/g

/** Normalises the duration in a line of a test report, the only difference between two runs of the same tests. */
export function foldTimes(line: string): string {
  return REPORT.test(line) ? line.replace(DURATION, '~') : line
}
