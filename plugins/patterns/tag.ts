/** The element in which injected text stands. */
export const TAG = 'gateway-instructions'

const BEHIND = `(?=[\\s\\p{Cf}/]*${TAG})`
const IMITATION = new RegExp(`<${BEHIND}`, 'giu')
const RAW_IMITATION = new RegExp(`(?:<|\\\\u003c)${BEHIND}`, 'giu')
const NAMED = new RegExp(TAG, 'i')
const HARMLESS = '&lt;'

/** The text of a pattern in its element. */
export function tagged(name: string, body: string): string {
  return `<${TAG} name="${name}">\n${body}\n</${TAG}>`
}

/** Whether the text imitates the tag, so that it could be taken for an instruction of the operator. */
export function isImitating(text: string): boolean {
  // The quick question first: nearly no text has the word.
  return NAMED.test(text) && text.search(IMITATION) !== -1
}

/** The string `raw` (JSON, of the text `text`) with the beginning of each imitated tag made harmless. */
export function neutralised(text: string, raw: Buffer): Buffer {
  const inPlace = raw.toString().replace(RAW_IMITATION, HARMLESS)
  const wanted = text.replace(IMITATION, HARMLESS)
  // Where escapes hide the tag, the text is printed anew: then its bytes are not the client's, and its meaning is.
  return Buffer.from(meaningOf(inPlace) === wanted ? inPlace : JSON.stringify(wanted))
}

function meaningOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
