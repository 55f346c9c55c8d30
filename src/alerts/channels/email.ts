import type { StoredAlert } from '../../core/ports/alerts.ts'
import { DeliveryFault, SEND_WITHIN_MS } from './channel.ts'

/** Options of e-mail. */
export interface EmailOptions {
  /** `smtp://` or `smtps://`, perhaps with a user and a password. */
  readonly url: string
  readonly from: string
  readonly to: readonly string[]
  readonly pages: string | undefined
}

const LOOPBACK = /^(127\.|localhost$|\[?::1\]?$)/

/**
 * Creates a sender of e-mail by SMTP. A password is sent over TLS alone, except to this machine. The `Message-ID` is the
 * alert's id, the same in each repetition.
 */
export function createEmail({ url, from, to, pages }: EmailOptions): (alert: StoredAlert) => Promise<void> {
  const { hostname, username } = new URL(url)
  const settings = {
    url,
    requireTLS: username !== '' && !LOOPBACK.test(hostname),
    connectionTimeout: SEND_WITHIN_MS,
    greetingTimeout: SEND_WITHIN_MS,
    socketTimeout: SEND_WITHIN_MS,
    dnsTimeout: SEND_WITHIN_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  return async function sendByEmail(alert) {
    // Loaded on demand: a gateway without e-mail does not need it.
    const { createTransport } = await import('nodemailer')
    const transport = createTransport(settings)
    const late = setTimeout(() => transport.close(), SEND_WITHIN_MS)
    try {
      await transport.sendMail({
        from,
        to: [...to],
        subject: `[${alert.severity}] ${alert.title}`,
        text: textOf(alert, pages),
        messageId: `<${alert.id}@turnpike>`,
        date: new Date(alert.atMs),
        headers: { 'auto-submitted': 'auto-generated' },
      })
    } catch (error) {
      throw new DeliveryFault(reasonOf(error))
    } finally {
      clearTimeout(late)
      transport.close()
    }
  }
}

/** Returns the code of a failure: its message may repeat the address. */
function reasonOf(error: unknown): string {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown }
  return [
    `no delivery: ${String(code ?? 'unknown')}`,
    ...(responseCode === undefined ? [] : [String(responseCode)]),
  ].join(' ')
}

function textOf({ title, atMs, details }: StoredAlert, pages: string | undefined): string {
  const lines = Object.entries(details).map(([name, value]) => `${name}: ${value}`)
  const link = pages === undefined ? [] : ['', `All alerts: ${pages}/#/alerts`]
  return [title, '', `at: ${new Date(atMs).toISOString()}`, ...lines, ...link, ''].join('\n')
}
