/**
 * Classes of UTF-8 bytes, with the cost in tokens of a byte that begins a run of its class and of one that continues
 * it. A single blank belongs to the word behind it; continuation bytes of a character cost nothing.
 */
const KINDS = [
  { name: 'mark', has: () => true, first: 0.9, further: 0.45 },
  { name: 'letter', has: (code: number) => /[A-Za-z]/.test(String.fromCharCode(code)), first: 0.85, further: 0.06 },
  { name: 'digit', has: (code: number) => code >= 48 && code <= 57, first: 1, further: 0.33 },
  { name: 'blank', has: (code: number) => code <= 32, first: 0, further: 0.25 },
  { name: 'lead', has: (code: number) => code >= 192, first: 0.8, further: 0.8 },
  { name: 'continuation', has: (code: number) => code >= 128 && code < 192, first: 0, further: 0 },
] as const

const BYTES = 256
const COLUMNS = 8
const KIND_OF = Uint8Array.from({ length: BYTES }, (_, code) =>
  Math.max(
    0,
    KINDS.findLastIndex(({ has }) => has(code)),
  ),
)
/** Costs by the class of the previous byte and of the byte. */
const COSTS = Float64Array.from({ length: COLUMNS * COLUMNS }, (_, index) => {
  const kind = KINDS[index % COLUMNS]
  if (kind === undefined) return 0
  return index % COLUMNS === index >> 3 ? kind.further : kind.first
})

/**
 * Estimates the tokens of a text: words, groups of digits, marks. For comparisons and thresholds; the gateway's own
 * counter is more precise for whole requests.
 */
export function estimateTokens(text: string): number {
  let tokens = 0
  let before = COLUMNS - 1
  for (let from = 0; from < text.length; ) {
    const to = pieceEnd(text, from)
    const bytes = Buffer.from(text.slice(from, to))
    for (let at = 0; at < bytes.length; at++) {
      // Safe: every byte has a class, and every pair of classes a cost.
      const kind = KIND_OF[bytes[at]!]!
      tokens += COSTS[before * COLUMNS + kind]!
      before = kind
    }
    from = to
  }
  return Math.ceil(tokens)
}

/** Characters per chunk: texts of megabytes are encoded in chunks to bound memory. */
const PIECE_CHARACTERS = 64 * 1024
const HIGH_SURROGATE = { first: 0xd800, last: 0xdbff }

/** Returns the end of the chunk that begins at `from`, without splitting a surrogate pair. */
function pieceEnd(text: string, from: number): number {
  const end = from + PIECE_CHARACTERS
  if (end >= text.length) return text.length
  const last = text.charCodeAt(end - 1)
  return last >= HIGH_SURROGATE.first && last <= HIGH_SURROGATE.last ? end + 1 : end
}
