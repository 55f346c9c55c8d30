import { styleText } from 'node:util'

/** Colours a text, or returns it unchanged. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

/**
 * Creates the colours for a stream: none unless it is a terminal, subject to `NO_COLOR`, `FORCE_COLOR` and the like.
 */
export function createPaint(stream: NodeJS.WriteStream): Paint {
  return (style, text) => styleText(style, text, { stream })
}
