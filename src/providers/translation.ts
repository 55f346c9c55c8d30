import type { Reply } from '../core/reply/reply.ts'
import { DroppedFields } from '../core/request/dropped-fields.ts'
import type { Exchange, Target } from '../core/request/exchange.ts'
import type { RequestDocument } from '../core/request/request.ts'
import { addDroppedFields, dropBetas } from './dropped-fields-header.ts'
import { callerOf, type Upstream } from './upstream.ts'
import { withoutWebSearch } from './web-search.ts'
import { type ReplyTranslation, translatedWire } from './wire.ts'

/** A request in a provider's own shape. */
export interface WireRequest {
  readonly path: string
  readonly bytes: Buffer
  /** Dropped fields of the Messages shape. */
  readonly droppedFields: DroppedFields
}

/** A pair of translations for a provider whose shape differs from the client's dialect: requests in, replies out. */
export interface Translation {
  /** Translates `request`, the exchange's, without the parts that a provider of another shape does not have. */
  toWire(request: RequestDocument, exchange: Exchange, target: Target): WireRequest
  /** Translates replies into the Messages shape, with a model and an id for replies that have none. */
  fromWire(named: { model: string; id: string }): ReplyTranslation
}

/**
 * Calls a provider in its own shape. Throws `invalid_request` before the call for a request that cannot be expressed; the
 * reply lists dropped fields in `x-svc-dropped`.
 */
export async function completeTranslated(
  exchange: Exchange,
  target: Target,
  { upstream, translation }: { upstream: Upstream; translation: Translation },
): Promise<Reply> {
  const droppedFields = new DroppedFields()
  droppedFields.add(exchange.client.droppedFields)
  dropBetas(exchange, droppedFields)
  const carried = withoutWebSearch(exchange, droppedFields)
  const request = translation.toWire(carried, exchange, target)
  droppedFields.add(request.droppedFields)
  droppedFields.assertCarried(upstream.name)
  const wire = translatedWire(
    translation.fromWire({ model: target.model, id: `msg_${exchange.id.slice('req_'.length)}` }),
  )
  const call = { method: 'POST', path: request.path, body: request.bytes } as const
  return addDroppedFields(await upstream.call(call, callerOf(exchange), wire), droppedFields)
}
