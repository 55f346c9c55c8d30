const MOST_FIGURES = 32
const NAME = /^[a-z][a-z0-9_]{0,39}$/
/** Without digits: no number of a card, and hardly any secret, is one. */
const WORD = /^[a-z][a-z_-]{0,23}$/

/**
 * Returns a plugin's figures for a receipt, which is kept and shown: counts and single words alone, 32 at most. Others are
 * left out, so that no text of a request is in a receipt. In alphabetic order.
 */
export function toReceiptFigures(figures: Readonly<Record<string, unknown>>): Record<string, number | string> {
  const kept: Record<string, number | string> = {}
  for (const name of Object.keys(figures).slice(0, MOST_FIGURES).sort()) {
    const value = figures[name]
    if (NAME.test(name) && isFigure(value)) kept[name] = value
  }
  return kept
}

function isFigure(value: unknown): value is number | string {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0
  return typeof value === 'string' && WORD.test(value)
}
