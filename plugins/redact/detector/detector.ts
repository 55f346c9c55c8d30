/**
 * DESIGN — a detector of the operator's own, over HTTP
 *
 *   texts ──► those that it has not read yet ──► one call within the budget ──► values, found in the texts as literals
 *
 * Turns of a conversation repeat its texts: the values of those that were read are kept by digest, so each turn sends the new
 * ones alone. A value is a text to find, not a place: encodings and lengths need no agreement.
 * Limits: calls at once, characters of a call, kept texts and their values; beyond, the call fails, and `on_failure` decides.
 */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { LiteralFinder } from '../literals.ts'
import type { AskDetector } from './endpoint.ts'
import { DetectorFailure } from './failure.ts'
import type { DetectorOptions } from './options.ts'

/** A running detector. */
export interface Detector {
  readonly onFailure: DetectorOptions['on_failure']
  /** Returns the values to redact in these texts. Rejects with `DetectorFailure`, or the signal's reason. */
  find(texts: readonly string[], signal: AbortSignal): Promise<readonly string[]>
  close(): void
}

const MOST_RUNNING = 64
const MOST_CHARACTERS = 4_000_000
const MOST_KEPT = 20_000
const MOST_KEPT_CHARACTERS = 8_000_000
/** A single character would be everywhere. */
const LEAST_CHARACTERS = 2
/** A kept text without values counts, too. */
const LEAST_SIZE = 1

/** Creates the detector of the options; `undefined` where they name none, which loads no HTTP client. */
export async function createDetector({
  url,
  api_key,
  budget,
  on_failure,
}: DetectorOptions): Promise<Detector | undefined> {
  if (url === undefined) return undefined
  const { createEndpoint } = await import('./endpoint.ts')
  const { ask, close } = createEndpoint({ url, apiKey: api_key, timeoutMs: budget })
  return { onFailure: on_failure, find: rememberingFinder(ask), close }
}

function rememberingFinder(ask: AskDetector): Detector['find'] {
  const kept = new LRUCache<string, readonly string[]>({
    max: MOST_KEPT,
    maxSize: MOST_KEPT_CHARACTERS,
    sizeCalculation: (values) => values.reduce((size, value) => size + value.length, LEAST_SIZE),
  })
  let running = 0
  return async function find(texts, signal) {
    const digests = new Map(texts.map((text) => [hash('sha256', text, 'base64'), text]))
    const known = [...digests.keys()].flatMap((digest) => kept.get(digest) ?? [])
    const unread = [...digests].filter(([digest]) => !kept.has(digest))
    if (unread.length === 0) return known
    if (running >= MOST_RUNNING) throw new DetectorFailure(`${running} calls are in flight`)
    const characters = unread.reduce((sum, [, text]) => sum + text.length, 0)
    if (characters > MOST_CHARACTERS) throw new DetectorFailure(`${characters} characters are too many`)
    running++
    try {
      const values = await ask(
        unread.map(([, text]) => text),
        signal,
      )
      const finder = new LiteralFinder(values.filter(isFindable).map((text) => ({ text, kind: 'custom' })))
      const found = unread.map(([digest, text]) => [digest, valuesIn(text, finder)] as const)
      for (const [digest, own] of found) kept.set(digest, own)
      return [...known, ...found.flatMap(([, own]) => own)]
    } finally {
      running--
    }
  }
}

function isFindable({ length }: string): boolean {
  return length >= LEAST_CHARACTERS
}

function valuesIn(text: string, finder: LiteralFinder): readonly string[] {
  return [...new Set(finder.find(text).map(({ start, end }) => text.slice(start, end)))]
}
