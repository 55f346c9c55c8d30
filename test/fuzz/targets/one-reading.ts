import fc from 'fast-check'
import { GatewayError } from '../../../src/core/errors.ts'
import { parseJson } from '../../../src/core/json/parse-json.ts'
import { parseChatRequest } from '../../../src/dialects/chat/parse.ts'
import { parseCountTokensRequest, parseMessagesRequest } from '../../../src/dialects/messages/parse.ts'
import { chat, chatWithSettings } from '../../support/chat-bodies.ts'
import { brokenRequests, requests } from '../../support/request-bodies.ts'
import { ambiguityOf } from '../../support/strict-json.ts'
import { attempt, createPicker, type Fuzzer, promise } from '../fuzzer.ts'
import { JSON_WORDS } from './json-scan.ts'

const PARSERS = { messages: parseMessagesRequest, chat: parseChatRequest, 'token counts': parseCountTokensRequest }
/** Longer bodies are not parsed whole when the scan is sure of them. */
const SMALL_BYTES = 8 * 1024
const PADDING = `"padding":"${'x'.repeat(SMALL_BYTES)}"`
const MOST_COPIES = 30_000
const LONGEST_REFUSAL = 4000

const KEY = /"(\w+)"\s*:/g
const ELEMENT = /\[(\{[^[\]{}]*\}|\d+|"[^"\\]*")/

const escaped = (name: string) => `\\u00${name.charCodeAt(0).toString(16).padStart(2, '0')}${name.slice(1)}`
/** Place of a member: beside another of its name, or under another spelling of it. */
const DISGUISES: readonly ((name: string) => string)[] = [
  (name) => `"${name}":1,"${name}":`,
  (name) => `"${escaped(name)}":1,"${name}":`,
  (name) => `"${name}":"text","${escaped(name)}":`,
  (name) => `"${escaped(name)}":`,
  (name) => `"${name.toUpperCase()}":1,"${name}":`,
  (name) => `"${name[0]?.toUpperCase()}${name.slice(1)}":`,
  (name) => `"${name.replaceAll('s', '\u017f').replaceAll('k', '\u212a')}":0,"${name}":`,
  (name) => `"${name}":1e999,"x":`,
]

/**
 * Bodies in disguise, on each route: one verdict, small and large; what is taken has one reading and what has two is not
 * taken, by a reader of our own; whatever is wrong, and however often, the refusal is short.
 */
export const oneReading: Fuzzer = {
  name: 'one-reading',
  seeds: fc
    .oneof(requests, brokenRequests, fc.constantFrom(chat('hello'), chatWithSettings()))
    .map((body) => Buffer.from(JSON.stringify(body)).toString('latin1')),
  words: [...JSON_WORDS, '"Model":"x",', '"MAX_TOKENS":1,', '"content":"b",', '"type":"text",', '[0,0,0]'],
  mostMutations: 1,
  outcomes: ['taken', 'refused', 'ambiguous'],
  run({ text, salt }) {
    const pick = createPicker(salt)
    const plain = pick(4) === 0 ? text : disguised(text, pick)
    const json = pick(64) === 0 ? inflated(plain, pick) : plain
    const body = Buffer.from(json, 'latin1').toString()
    if (attempt(() => parseJson(body)).error !== undefined || !body.trim().startsWith('{')) return 'not JSON'
    const isAmbiguous = ambiguityOf(body) !== undefined
    const taken = Object.entries(PARSERS).map(([name, parse]) => {
      const verdicts = [body, padded(body)].map((each) => verdictOf(parse, each))
      promise(verdicts[0] === verdicts[1], `${name} have one verdict, small and large: ${verdicts.join(', ')}`)
      promise(!(isAmbiguous && verdicts[0]), `${name} with two readings are refused`)
      return verdicts[0]
    })
    return isAmbiguous ? 'ambiguous' : taken.includes(true) ? 'taken' : 'refused'
  },
}

function verdictOf(parse: (bytes: Buffer) => unknown, body: string): boolean {
  const { error } = attempt(() => parse(Buffer.from(body)))
  if (error === undefined) return true
  promise(error instanceof GatewayError && error.code === 'invalid_request', `threw ${error}`)
  promise(error.message.length <= LONGEST_REFUSAL, `a refusal of ${error.message.length} characters`)
  return false
}

function padded(body: string): string {
  return body.replace(/\{\s*(\}?)/, (_, close) => `{${PADDING}${close === '' ? ',' : '}'}`)
}

function disguised(text: string, pick: (below: number) => number): string {
  const keys = [...text.matchAll(KEY)]
  const key = keys[pick(keys.length)]
  const disguise = DISGUISES[pick(DISGUISES.length)]
  if (key === undefined || disguise === undefined) return text
  const name = key[1] ?? ''
  const written = Buffer.from(disguise(name)).toString('latin1')
  return text.slice(0, key.index) + written + text.slice(key.index + key[0].length)
}

/** The text with the first element of a list in it again and again. */
function inflated(text: string, pick: (below: number) => number): string {
  return text.replace(ELEMENT, (found, element) => found + `,${element}`.repeat(pick(MOST_COPIES)))
}
