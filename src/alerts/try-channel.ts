import { randomUUID } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'
import type { StoredAlert } from '../core/ports/alerts.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { AlertChannel } from './channels/channel.ts'

/**
 * Sends a test alert to a channel now, without the outbox. Throws `not_found` for an unknown channel, and `upstream_error`
 * with the reason where the channel does not take it.
 */
export async function tryChannel(channels: readonly AlertChannel[], name: string, clock: Clock): Promise<StoredAlert> {
  const channel = channels.find((one) => one.name === name)
  if (channel === undefined) throw unknownChannel(channels, name)
  const alert: StoredAlert = {
    id: `alert_${randomUUID()}`,
    atMs: clock.nowMs(),
    kind: 'health',
    severity: 'info',
    subject: 'test',
    title: `This is a test of the channel ${name}: alerts arrive here.`,
    details: { channel: name },
  }
  try {
    await channel.send(alert)
    return alert
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown'
    throw new GatewayError('upstream_error', `The channel \`${name}\` did not take the test alert: ${reason}.`, {
      cause: error,
    })
  }
}

function unknownChannel(channels: readonly AlertChannel[], name: string): GatewayError {
  const names = channels.map((channel) => `\`${channel.name}\``).join(', ')
  const known = names === '' ? 'None is configured: add one to `alerts.channels`.' : `There are ${names}.`
  return new GatewayError('not_found', `There is no channel \`${name}\`. ${known}`)
}
