import { isObject, tryParseJson } from '../../../core/json/json-value.ts'

/** The end of JSON that was cut inside an escape sequence, or in the middle of a character. */
const CUT_ESCAPE = /\\(?:u[\da-f]{0,3})?$/i
const CUT_CHARACTER = /[\ud800-\udbff]$/

/**
 * Returns the free text in the JSON of a custom tool's input; of JSON that was cut, the text as far as it was written.
 * `undefined` when there is none.
 */
export function freeTextOf(json: string): string | undefined {
  const whole = inputIn(json) ?? inputIn(`${json}}`)
  if (whole !== undefined) return whole
  const cut = inputIn(`${json}"}`) ?? inputIn(`${json.replace(CUT_ESCAPE, '')}"}`)
  return cut?.replace(CUT_CHARACTER, '')
}

function inputIn(json: string): string | undefined {
  const value = tryParseJson(json)
  return isObject(value) && typeof value.input === 'string' ? value.input : undefined
}
