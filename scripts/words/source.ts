import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ownFiles } from '../own-files.ts'

/** Words that comments and messages do not use, with the term of the glossary in CONTRIBUTING.md for each. */
const REFUSED: readonly (readonly [words: RegExp, term: string])[] = [
  [/\b(?:nobody|somebody|anybody|everybody|whoever)\b/gi, 'client, caller, user or operator'],
  [/\b(?:told|tells|says)\b/gi, 'returns, logs, sends, records or notifies'],
  [/\bstands\b/gi, 'is, or its own verb'],
  [/\bhung up\b/gi, 'disconnected'],
  [/\bunder way\b/gi, 'in-flight'],
  [/\btills?\b/gi, 'reservation pool'],
  [/\btolling\b/gi, 'agent payments'],
  [/\bled pages?\b/gi, 'origin guard'],
  [/\bpassed over\b/gi, 'bypassed'],
  [/\bused longest ago\b/gi, 'least recently used'],
  [/\bthe door\b/gi, 'plugin API, HTTP API'],
  [/\bfor ever\b/gi, 'forever, permanently'],
]

/** Names in code that the table of names has replaced. */
const REFUSED_NAMES: readonly (readonly [names: RegExp, term: string])[] = [
  [/\b(?:ledPages|leavingSignal)\b/g, 'origin guard, client disconnect'],
  [/\b(?:putAside|whatIsTold)\b/g, 'superseded replies, fan-out'],
  [/\b(?:TollGate|tollGate)\b/g, 'challenge limiter'],
  [/\b(?:OwnRequests|OwnModels)\b/g, 'internal requests, model client'],
  [/\b(?:heldThread|ownBytes)\b/g, 'server-side thread, compact copy'],
  [/\b(?:patiently|openStage|openBooth|scene)\b/g, 'withoutTimeout, fixture, scenario'],
]

/** Matches the first words of a doc comment, which begins with a verb or names the thing. */
const CROSSWORD = /^\s*\/\*\*\s+(?:What|Whether|Who|Of)\b/
const CROSSWORD_BELOW = /^\s*\*\s+(?:What|Whether|Who|Of)\b/

/** Matches a doc comment and the empty line below it. */
const DETACHED = /^[ \t]*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n\n/gm
const MEND = 'move it to its declaration, begin it with `/*`, or remove it'

const COMMENT = /(?:^|\s)\/\/\s(.*)$|^\s*(?:\/\*\*?|\*)(.*)$/
const SENTENCE = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/g

/** Lists `file:line` and the refused word of each place in the folders; word lists of languages are data, not text. */
export function refusedInSources(
  root: string,
  folders: readonly string[],
  wordLists: readonly string[] = [],
): string[] {
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,tsx,mjs}`)
  const exclude = ['**/dist/**', 'scripts/words/source.ts', 'test/docs/{source-words,words}.test.ts']
  return ownFiles(patterns, root, exclude).flatMap((file) => {
    const isWordList = wordLists.some((list) => file.startsWith(list))
    const text = readFileSync(path.join(root, file), 'utf8')
    const lines = text.split('\n')
    const words = lines.flatMap((line, at) =>
      faultsOf(line, lines[at - 1] ?? '', isWordList).map((fault) => `${file}:${at + 1} ${fault}`),
    )
    return [...words, ...detachedComments(text).map((line) => `${file}:${line} is a doc comment of nothing; ${MEND}`)]
  })
}

/** Lists the lines of doc comments below which there is no declaration; a file's first comment is about the file. */
function detachedComments(text: string): number[] {
  return [...text.matchAll(DETACHED)]
    .filter(({ 0: comment, index }) => index > 0 && !comment.includes('DESIGN'))
    .map(({ index }) => text.slice(0, index).split('\n').length)
}

function faultsOf(line: string, above: string, isWordList: boolean): string[] {
  const crossword = CROSSWORD.test(line) || (CROSSWORD_BELOW.test(line) && /^\s*\/\*\*$/.test(above))
  const comment = COMMENT.exec(line)
  const text = comment
    ? (comment[1] ?? comment[2] ?? '').replaceAll(/`[^`]*`/g, ' ')
    : isWordList
      ? ''
      : sentencesOf(line)
  return [
    ...(crossword ? ['begins a doc comment with What, Whether, Who or Of; begin with a verb or name the thing'] : []),
    ...matchesOf(REFUSED, text),
    ...matchesOf(REFUSED_NAMES, line),
  ]
}

/** Returns the strings of a line that have several words; keys and names have none. */
function sentencesOf(line: string): string {
  return (line.match(SENTENCE) ?? [])
    .filter((text) => /\w \w+ /.test(text))
    .join(' ')
    .replaceAll(/\$\{[^}]*\}/g, ' ')
}

function matchesOf(refused: readonly (readonly [RegExp, string])[], text: string): string[] {
  return refused.flatMap(([words, term]) => (text.match(words) ?? []).map((word) => `has \`${word}\`; use ${term}`))
}
