import { InvalidArgumentError } from 'commander'
import type { CacheOutcome } from '../../core/telemetry/telemetry.ts'
import type { LiveRequest } from './row.ts'

/** Filter of the requests shown; unset members match all. */
export interface TailFilter {
  /** Part of the requested or replying model's name, in either case. */
  readonly model?: string
  readonly status?: StatusFilter
  /** Id of a key. */
  readonly key?: string
  readonly cache?: CacheOutcome
  /** Part of an id, a key's id, a model, a provider, a pipeline or a reason. */
  readonly text?: string
}

type StatusFilter = (request: LiveRequest) => boolean

/** Parses `429`, `4xx`, `ok` or `failed`. Throws `InvalidArgumentError`. */
export function parseStatus(text: string): StatusFilter {
  if (text === 'ok') return ({ outcome }) => outcome === 'complete'
  if (text === 'failed') return ({ outcome }) => outcome !== 'complete'
  if (!/^[1-5](\d\d|xx)$/.test(text)) throw new InvalidArgumentError('expected 429, 4xx, ok or failed')
  const digits = text.replace('xx', '')
  return ({ status }) => String(status ?? '').startsWith(digits)
}

/** Tests a request against the filter. */
export function isShown(request: LiveRequest, { model, status, key, cache, text }: TailFilter): boolean {
  const { id, requestId, modelAsked, modelServed, provider, pipeline, keyId, reason } = request
  return (
    has([modelAsked, modelServed], model) &&
    (status === undefined || status(request)) &&
    (key === undefined || keyId === key) &&
    (cache === undefined || request.cache === cache) &&
    has([id, requestId, modelAsked, modelServed, provider, pipeline, keyId, reason], text)
  )
}

function has(texts: readonly (string | null)[], wanted = ''): boolean {
  return texts.some((text) => (text ?? '').toLowerCase().includes(wanted.toLowerCase()))
}
