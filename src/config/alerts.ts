import { z } from 'zod'
import { ALERT_KINDS } from '../core/ports/alerts.ts'
import { duration } from '../core/units.ts'
import { address, fromEnv } from '../providers/options.ts'

const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/
const MOST_CHANNELS = 20
const email = z.email({ error: 'expected an e-mail address' })

const channel = z
  .strictObject({
    kind: z
      .enum(['webhook', 'slack', 'email'])
      .describe(
        '`webhook`: a signed POST (Standard Webhooks). `slack`: an incoming webhook of Slack, or of a service that takes the same JSON. `email`: by `alerts.smtp`.',
      ),
    url: fromEnv(address.optional(), undefined, { secret: true }).describe(
      'Address of a webhook. In the file a dollar sign and the name of a variable in braces is replaced by its value. Redirects are not followed.',
    ),
    secret: fromEnv(
      z
        .string()
        .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, { error: 'expected `whsec_` and at least 24 bytes in base64' })
        .optional(),
      undefined,
      { secret: true },
    ).describe(
      'Secret of the signature of a `webhook`, which its receiver has too: `whsec_` and base64, as `echo whsec_$(openssl rand -base64 24)` makes it.',
    ),
    to: z.array(email).max(20).default([]).describe('Recipients of `email`.'),
    kinds: z
      .array(z.enum(ALERT_KINDS))
      .min(1)
      .default([...ALERT_KINDS])
      .describe('Kinds of alerts that this channel gets.'),
  })
  .superRefine(({ kind, url, secret, to }, context) => {
    const missing = (name: string) =>
      context.addIssue({ code: 'custom', path: [name], message: `a channel of kind \`${kind}\` needs \`${name}\`` })
    if (kind !== 'email' && url === undefined) missing('url')
    if (kind === 'webhook' && secret === undefined) missing('secret')
    if (kind === 'email' && to.length === 0) missing('to')
  })

const smtp = z.strictObject({
  url: fromEnv(z.url({ protocol: /^smtps?$/, error: 'expected an smtp(s) address' }).optional(), 'SVC_SMTP_URL', {
    secret: true,
  }).describe(
    'Mail server, e.g. `smtps://user:password@mail.example.com:465`, or `smtp://…:587` for STARTTLS. A password is sent over TLS alone.',
  ),
  from: fromEnv(email.optional(), 'SVC_SMTP_FROM').describe('Sender of e-mail.'),
})

/** Alerts and their channels. */
export const alerts = z
  .strictObject({
    enabled: z
      .boolean()
      .optional()
      .describe(
        'Watch for what operators should know. Unset: on when there is a channel. `true` without one: alerts are listed in the dashboard and counted in metrics alone.',
      ),
    channels: z
      .object({})
      .catchall(channel)
      .superRefine((channels, context) => {
        const names = Object.keys(channels)
        if (names.length > MOST_CHANNELS)
          context.addIssue({ code: 'custom', message: `expected at most ${MOST_CHANNELS} channels` })
        for (const name of names)
          if (!NAME.test(name))
            context.addIssue({ code: 'custom', path: [name], message: 'expected a name of a-z, 0-9, `.`, `_` and `-`' })
      })
      .prefault({}),
    smtp: smtp.prefault({}),
    caps: z
      .array(z.int().min(1).max(100))
      .min(1)
      .max(10)
      .default([50, 80, 100])
      .describe(
        'Shares of a cap, in percent, at which an alert is raised, once per day or month. At 100: it is spent, or at least 80 % is and it has refused a request.',
      ),
    networks: z
      .int()
      .min(0)
      .max(1000)
      .default(20)
      .describe(
        'Networks (IPv4 /24, IPv6 /48) from which a key is used within an hour, in one process, before it counts as leaked. 0 switches this off. Behind a proxy all clients have its address, and none is reported.',
      ),
    slow_after: duration({ min: '100ms', max: '1h' })
      .prefault('60s')
      .describe(
        'Wait for a provider’s first byte beyond which a reply is slow; a provider is when half of its replies are. Raise it where models think long before they answer.',
      ),
    spend_floor: z
      .number()
      .min(0)
      .max(1_000_000)
      .default(20)
      .describe(
        'Least difference, in USD, between the spend of today and the usual one of the same weekday that is unlike the last weeks.',
      ),
    repeat: duration({ min: '1m', max: '30d' })
      .prefault('24h')
      .describe(
        'Time after which an alert about something that goes on is repeated: a failing provider, a leaked key, a fault.',
      ),
    every: duration({ min: '1s', max: '1h' })
      .prefault('1m')
      .describe(
        'Interval at which caps, the audit log and counts of providers are read. Providers are judged by five intervals.',
      ),
    retry_after: duration({ min: '100ms', max: '10m' })
      .prefault('15s')
      .describe(
        'Pause before a failed delivery is tried again; it doubles up to an hour, and after 30 tries, about a day, the delivery is given up.',
      ),
  })
  .superRefine(({ channels, smtp }, context) => {
    if (!Object.values(channels).some(({ kind }) => kind === 'email')) return
    for (const name of ['url', 'from'] as const)
      if (smtp[name] === undefined)
        context.addIssue({
          code: 'custom',
          path: ['smtp', name],
          message: `a channel of kind \`email\` needs \`${name}\``,
        })
  })
