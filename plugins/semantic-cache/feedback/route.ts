import { GatewayError, z } from 'turnpike/plugin'
import { explain, type RouteHandler } from 'turnpike/plugin/commands'
import type { Served, ServedAnswers } from './served.ts'

const bodySchema = z.strictObject({
  request: z.string().regex(/^req_[\w-]{1,64}$/, 'expected the `request-id` of a reply'),
  verdict: z.enum(['right', 'wrong']),
})

/** Dependencies of the route. */
export interface FeedbackParts {
  readonly answers: ServedAnswers
  /** Acts on a verdict, once, and again when its owner reverses it. */
  readonly onVerdict: (served: Served, verdict: 'right' | 'wrong') => void
}

/**
 * Handles `POST /v1/cache/feedback`: the owner's verdict on an answer from the cache. For others the answer does not
 * exist.
 */
export function createFeedbackRoute(open: () => FeedbackParts): RouteHandler {
  return async function feedback({ caller, body }) {
    const parsed = bodySchema.safeParse(body)
    if (!parsed.success) throw new GatewayError('invalid_request', explain(parsed.error))
    const { request, verdict } = parsed.data
    const { answers, onVerdict } = open()
    const served = await answers.find(request).catch((cause: unknown) => {
      throw new GatewayError('service_unavailable', 'Served answers cannot be looked up at the moment.', { cause })
    })
    if (served === undefined || served.owner !== caller.scope) {
      throw new GatewayError('not_found', `No answer from the cache was given to \`${request}\` of yours within a day.`)
    }
    if (served.verdict !== verdict) {
      answers.remember(request, { ...served, verdict })
      onVerdict(served, verdict)
    }
    return { request, verdict, entry: served.entry, evicted: verdict === 'wrong' }
  }
}
