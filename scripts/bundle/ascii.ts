import type { Plugin } from 'rolldown'

const OUTSIDE_ASCII = /[\u0080-\uffff]/g
const RAW_OUTSIDE_ASCII = /String\.raw`[^`]*[\u0080-\uffff]/

/**
 * Escapes all characters outside of ASCII, which halves the memory of the bundle's text: V8 stores a file with a
 * character outside of Latin-1 at two bytes a character, for the life of the process. A file with such a character in a
 * raw template is left as it is: an escape there is six other characters.
 */
export function escapeToAscii(): Plugin {
  return {
    name: 'escape-to-ascii',
    // After the final printing, which would undo escapes. Lines are unchanged; columns behind an escape move.
    generateBundle(_options, files) {
      for (const file of Object.values(files))
        if (file.type === 'chunk' && !RAW_OUTSIDE_ASCII.test(file.code))
          file.code = file.code.replaceAll(OUTSIDE_ASCII, toEscape)
    },
  }
}

/** Returns the escape, valid in strings, expressions and names; a character of two units becomes two escapes. */
function toEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
