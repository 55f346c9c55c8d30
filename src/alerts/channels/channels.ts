import type { AlertKind } from '../../core/ports/alerts.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { AlertChannel } from './channel.ts'
import { createEmail } from './email.ts'
import { createSlack } from './slack.ts'
import { createWebhook } from './webhook.ts'

/** Channels as configured; their presence in each kind was checked with the configuration. */
export interface ConfiguredChannels {
  readonly channels: Readonly<Record<string, ConfiguredChannel>>
  readonly smtp: { readonly url?: string | undefined; readonly from?: string | undefined }
}

interface ConfiguredChannel {
  readonly kind: AlertChannel['kind']
  readonly url?: string | undefined
  readonly secret?: string | undefined
  readonly to: readonly string[]
  readonly kinds: readonly AlertKind[]
}

/** Parts that channels share. */
export interface ChannelParts {
  readonly clock: Clock
  /** Address of the gateway's pages; unset: messages have no link. */
  readonly pages: string | undefined
}

/** Creates the senders of the configured channels. */
export function createChannels({ channels, smtp }: ConfiguredChannels, parts: ChannelParts): AlertChannel[] {
  const pages = parts.pages?.replace(/\/$/, '')
  return Object.entries(channels).map(([name, { kind, kinds, url = '', secret = '', to }]) => {
    const common = { name, kind, kinds: new Set(kinds) }
    if (kind === 'webhook') return { ...common, send: createWebhook({ url, secret, clock: parts.clock }) }
    if (kind === 'slack') return { ...common, send: createSlack({ url, pages }) }
    return { ...common, send: createEmail({ url: smtp.url ?? '', from: smtp.from ?? '', to, pages }) }
  })
}
