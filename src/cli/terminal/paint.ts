import { styleText } from 'node:util'

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

/** Colours for this stream: none unless it is a terminal, as `NO_COLOR`, `FORCE_COLOR` and the like say. */
export function createPaint(stream: NodeJS.WriteStream): Paint {
  return (style, text) => styleText(style, text, { stream })
}
