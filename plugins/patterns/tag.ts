/** Element that holds injected text. */
export const TAG = 'gateway-instructions'

const BEHIND = `(?=[\\s\\p{Cf}/]*${TAG})`
const IMITATION = new RegExp(`<${BEHIND}`, 'giu')
const RAW_IMITATION = new RegExp(`(?:<|\\\\u003c)${BEHIND}`, 'giu')
const NAMED = new RegExp(TAG, 'i')
const HARMLESS = '&lt;'

/** Returns the text of a pattern in its element. */
export function tagged(name: string, body: string): string {
  return `<${TAG} name="${name}">\n${body}\n</${TAG}>`
}

/** Tests for an imitation of the tag, which could pass for an instruction of the operator. */
export function isImitating(text: string): boolean {
  // The cheap test first: nearly no text has the word.
  return NAMED.test(text) && text.search(IMITATION) !== -1
}

/** Neutralises the beginning of each imitated tag in the string `raw` (JSON of the text `text`). */
export function neutralised(text: string, raw: Buffer): Buffer {
  const inPlace = raw.toString().replace(RAW_IMITATION, HARMLESS)
  const wanted = text.replace(IMITATION, HARMLESS)
  // Where escapes hide the tag, the text is printed again: then its bytes are not the client's, but its meaning is.
  return Buffer.from(meaningOf(inPlace) === wanted ? inPlace : JSON.stringify(wanted))
}

function meaningOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
