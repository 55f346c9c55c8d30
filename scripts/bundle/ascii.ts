import type { Plugin } from 'rolldown'

const OUTSIDE_ASCII = /[\u0080-\uffff]/g

/**
 * Escapes all characters outside of ASCII, which halves the memory of the bundle's text: the engine keeps a file that
 * has one outside of Latin-1 at two bytes a character, for as long as the process lives.
 */
export function escapeToAscii(): Plugin {
  return {
    name: 'escape-to-ascii',
    // After the last printing of the code, which takes escapes out again. Lines stay; columns behind an escape move.
    generateBundle(_options, files) {
      for (const file of Object.values(files))
        if (file.type === 'chunk') file.code = file.code.replaceAll(OUTSIDE_ASCII, toEscape)
    },
  }
}

/** Valid in strings, expressions and names; a character of two units becomes two escapes. */
function toEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
