import { createHmac } from 'node:crypto'
import type { StoredAlert } from '../../core/ports/alerts.ts'
import type { Clock } from '../../core/ports/clock.ts'
import { postJson } from './post.ts'

/** Beginning of a secret, before its base64 (Standard Webhooks). */
const SECRET_PREFIX = 'whsec_'
const MS_PER_SECOND = 1000

/** Options of a webhook. */
export interface WebhookOptions {
  readonly url: string
  /** `whsec_` and base64. */
  readonly secret: string
  readonly clock: Clock
}

/**
 * Creates a sender to a webhook, signed as Standard Webhooks 1.0 specifies: HMAC-SHA-256 of id, timestamp and body. The id is
 * the alert's, the same in each repetition, so that the receiver can ignore one that it has; the timestamp is the try's.
 */
export function createWebhook({ url, secret, clock }: WebhookOptions): (alert: StoredAlert) => Promise<void> {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return async function sendToWebhook(alert) {
    const body = JSON.stringify(toEvent(alert))
    const timestamp = String(Math.floor(clock.nowMs() / MS_PER_SECOND))
    const signature = createHmac('sha256', key).update(`${alert.id}.${timestamp}.${body}`).digest('base64')
    await postJson(url, body, {
      'webhook-id': alert.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    })
  }
}

function toEvent({ id, atMs, kind, severity, subject, title, details }: StoredAlert): object {
  return {
    type: `alert.${kind}`,
    timestamp: new Date(atMs).toISOString(),
    data: { id, kind, severity, subject, title, details },
  }
}
