import type { StoredAlert } from '../../core/ports/alerts.ts'
import { postJson } from './post.ts'

const EMOJI = { info: ':information_source:', warning: ':warning:', critical: ':rotating_light:' } as const
/** Most fields of a section (Slack, Block Kit). */
const MOST_FIELDS = 10

/** Options of a Slack-compatible incoming webhook. */
export interface SlackOptions {
  readonly url: string
  /** URL of the dashboard; without it the message has no link. */
  readonly pages: string | undefined
}

/** Creates a sender to an incoming webhook of Slack, or of a service that takes the same JSON (Mattermost, Rocket.Chat, Discord's `/slack`). */
export function createSlack({ url, pages }: SlackOptions): (alert: StoredAlert) => Promise<void> {
  return function sendToSlack(alert) {
    return postJson(url, JSON.stringify(toMessage(alert, pages)), {})
  }
}

/** Creates the message. Its `text` is shown in notifications, and by services that do not support blocks. */
function toMessage({ severity, title, details, atMs }: StoredAlert, pages: string | undefined): object {
  const text = `${EMOJI[severity]} ${escaped(title)}`
  const fields = Object.entries(details)
    .slice(0, MOST_FIELDS)
    .map(([name, value]) => ({ type: 'mrkdwn', text: `*${escaped(name)}*\n${escaped(String(value))}` }))
  const link = pages === undefined ? '' : ` · <${pages}/#/alerts|all alerts>`
  return {
    text,
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text }, ...(fields.length > 0 && { fields }) },
      { type: 'context', elements: [{ type: 'mrkdwn', text: `${new Date(atMs).toISOString()} · turnpike${link}` }] },
    ],
  }
}

/** Escapes the three characters of Slack's markup, so that no text becomes a link or a mention. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
