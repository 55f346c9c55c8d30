import { stripPadding } from './lossless/gutter.ts'
import { minifyJson } from './lossless/json.ts'
import { stripListing } from './lossless/listing.ts'
import { foldRepeats } from './lossless/repeats.ts'
import { stripTerminal } from './lossless/terminal.ts'

/** Removes the padding of line numbers that a tool has added to a file. */
export function stripFile(text: string): string {
  return stripPadding(text)
}

/** Removes layout from a tool's output. */
export function stripOutput(text: string): string {
  return foldRepeats(stripListing(stripPadding(minifyJson(stripTerminal(text)))))
}
