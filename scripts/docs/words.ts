import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Pages written by people; reference pages are not checked. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/*.md',
  'docs/decisions/*.md',
  'docs/clients/*.md',
  'examples/**/*.md',
  'plugins/*/README.md',
]

/** Words that pages do not use, and the term of the glossary in CONTRIBUTING.md for each. */
const REFUSED: readonly (readonly [words: RegExp, term: string])[] = [
  [/\b(?:nobody|somebody|anybody|whoever)\b/gi, 'client, caller, user or operator'],
  [/\b(?:is|are|was|were|be|been|not) told\b/gi, 'receives, is reported, is logged'],
  [/\bhung up\b/gi, 'cancelled'],
  [/\bunder way\b/gi, 'in-flight'],
  [/\btills?\b/gi, 'reservation pool'],
  [/\btenants?\b/gi, 'scope or caller'],
  [/\bsubstitutes?\b/gi, 'fallback'],
  [/\bpassed over\b/gi, 'bypassed'],
  [/\b(?:is|are|be) let go\b/gi, 'released'],
  [/\bused longest ago\b/gi, 'least recently used'],
  [/\bthe door\b/gi, 'the plugin API, the HTTP API'],
  [/\bmodules? (?:that|behind|in front|of the pipeline)\b/gi, 'plugin'],
]

/**
 * Returns a line for each word that the glossary has replaced, with its page and line number. Code, links and the
 * glossary are exempt.
 */
export function refusedWords(root: string): string[] {
  return globSync(PAGES, { cwd: root })
    .toSorted()
    .flatMap((page) =>
      proseOf(readFileSync(path.join(root, page), 'utf8'))
        .split('\n')
        .flatMap((line, index) => faultsOf(line).map((fault) => `${page}:${index + 1} ${fault}`)),
    )
}

function faultsOf(line: string): string[] {
  return REFUSED.flatMap(([words, term]) => (line.match(words) ?? []).map((word) => `has \`${word}\`; use ${term}`))
}

/** Blanks out code, link targets and the glossary; line numbers are unchanged. */
function proseOf(text: string): string {
  const blank = (code: string) => code.replaceAll(/[^\n]/g, ' ')
  return text
    .replaceAll(/^(```|~~~).*?^\1/gms, blank)
    .replaceAll(/`[^`\n]*`|\]\([^)\s]*\)/g, blank)
    .replace(/^## Glossary$.*/ms, blank)
}
