import { stripPadding } from './lossless/gutter.ts'
import { minifyJson } from './lossless/json.ts'
import { stripListing } from './lossless/listing.ts'
import { foldRepeats } from './lossless/repeats.ts'
import { stripColours, stripTerminal } from './lossless/terminal.ts'
import { showsFile } from './shows-file.ts'
import type { ToolCall } from './tool-results.ts'

/** Takes out of a tool's text what says nothing: of a file shown as it is, only what the tool itself has added. */
export function stripFor(call: ToolCall | undefined): (text: string) => string {
  return call !== undefined && showsFile(call) ? stripFile : stripOutput
}

function stripFile(text: string): string {
  return stripPadding(stripColours(text))
}

function stripOutput(text: string): string {
  return foldRepeats(stripListing(stripPadding(minifyJson(stripTerminal(text)))))
}
