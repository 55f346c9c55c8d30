/** Characters at the beginning of a result in which an error is looked for. */
const BEGINNING = 300

/** Matches the beginning of an error where the dialect has no mark for one. */
const ERROR =
  /^\s{0,20}(?:<tool_use_error>|\[?(?:error|fatal|failed|failure|exception|traceback|fehler|erreur|エラー|错误)\b|(?:エラー|错误)|(?:exit code|process exited with code|command exited with code):? ?[1-9]|\{\s{0,20}"(?:error|errors)"\s{0,4}:\s{0,4}["{[]|\{\s{0,20}"(?:isError|is_error)"\s{0,4}:\s{0,4}true)|(?:^|\n)[^\n]{0,120}(?:\b[A-Z]\w{1,40}(?:Error|Exception): |: command not found|: permission denied|ECONNREFUSED)/i
/** Matches the wrapping of errors, which is equal for all: an exit code alone is also that of a search without matches. */
const WRAPPING =
  /<\/?tool_use_error>|(?:exit code|process exited with code|command exited with code):? ?\d+|wall time: [^\n]{0,40}|output:|error:?|total output lines: \d+/gi
/** Fewest letters of an error that names its cause. */
const LEAST_LETTERS = 10
/** Matches a result of a search that found nothing. */
const MISS =
  /\b(?:not found|does not exist|doesn['’]t exist|no such|no (?:matches|results|files|rows|records|entries|logs|data|hits)|cannot find|404|keine|nicht gefunden|aucun|introuvable)\b|見つかりません|未找到|\[\s{0,4}\]|"(?:total|count|hits)"\s{0,4}:\s{0,4}0\b|\b0 (?:results|rows|matches|hits|files)\b/i
/** A longer result is more than the absence of one. */
const LONGEST_MISS = 400

/** Tests whether a result begins like an error. */
export function isErrorText(result: string): boolean {
  return ERROR.test(result.slice(0, BEGINNING))
}

/** Tests whether an error has more text than its code. */
export function namesItsCause(error: string): boolean {
  const letters = error.slice(0, 4096).replace(WRAPPING, '').match(/\p{L}/gu)?.length ?? 0
  return letters >= LEAST_LETTERS
}

/** Tests for the result of a search that found nothing: searching on elsewhere is ordinary. */
export function isMiss(result: string): boolean {
  return result.length <= LONGEST_MISS && MISS.test(result)
}
