import { stripPadding } from './lossless/gutter.ts'
import { minifyJson } from './lossless/json.ts'
import { stripListing } from './lossless/listing.ts'
import { foldRepeats } from './lossless/repeats.ts'
import { stripTerminal } from './lossless/terminal.ts'

/** A file as a tool shows it, without the padding of the line numbers that the tool has added. */
export function stripFile(text: string): string {
  return stripPadding(text)
}

/** A tool's output without layout. */
export function stripOutput(text: string): string {
  return foldRepeats(stripListing(stripPadding(minifyJson(stripTerminal(text)))))
}
