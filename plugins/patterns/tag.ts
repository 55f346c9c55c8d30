/** The element in which injected text stands. */
export const TAG = 'gateway-instructions'

const IMITATION = new RegExp(`<(?=[\\s\\p{Cf}/]*${TAG})`, 'giu')
const NAMED = new RegExp(TAG, 'i')

/** The text of a pattern in its element. */
export function tagged(name: string, body: string): string {
  return `<${TAG} name="${name}">\n${body}\n</${TAG}>`
}

/** The text with the beginning of each imitated tag made harmless; `undefined` when there is none. */
export function neutralised(text: string): string | undefined {
  // The quick question first: nearly no text has the word.
  if (!NAMED.test(text)) return undefined
  const harmless = text.replace(IMITATION, '&lt;')
  return harmless === text ? undefined : harmless
}
