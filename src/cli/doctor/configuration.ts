import { assertModeComplete } from '../../app/accounts.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { isOpenToOthers, listenHost } from '../../config/reach.ts'
import type { Config } from '../../config/schema.ts'
import { messageOf } from '../../core/errors.ts'
import { isLoopback } from '../../core/system/listen-address.ts'
import { advice, type Finding, fault, ok } from './finding.ts'

/** Finds faults of the configuration that need no network. */
export function checkConfiguration({ config, file, sourceOf }: LoadedConfig): Finding[] {
  return [
    ok(`the configuration is valid (${file ?? 'no file'}, mode ${config.mode})`),
    ...checkSelf(config, sourceOf),
    ...checkReach(config),
    ...checkUsers(config),
    ...checkCaps(config),
    ...checkBilling(config),
  ]
}

/**
 * `ANTHROPIC_BASE_URL` makes clients reach the gateway: in the gateway’s own shell it makes the gateway call itself.
 */
function checkSelf({ providers, server }: Config, sourceOf: LoadedConfig['sourceOf']): Finding[] {
  const own = [`:${server.port}`, ...(server.public_url === undefined ? [] : [new URL(server.public_url).host])]
  return Object.entries(providers).flatMap(([name, section]) => {
    const address = addressOf(section)
    if (address === undefined || !URL.canParse(address)) return []
    const { hostname, port, host } = new URL(address)
    const isOwn = own.includes(host) || ((isLoopback(hostname) || hostname === '0.0.0.0') && own.includes(`:${port}`))
    if (!isOwn) return []
    const from = sourceOf(`providers.${name}.base_url`)
    return fault(
      `provider \`${name}\` is this gateway itself: \`base_url\` is ${address} (from the ${from})`,
      'That variable is for clients. Unset it where the gateway is started.',
    )
  })
}

function addressOf(section: unknown): string | undefined {
  if (typeof section !== 'object' || section === null || !('base_url' in section)) return undefined
  return typeof section.base_url === 'string' ? section.base_url : undefined
}

function checkReach(config: Config): Finding[] {
  if (!isOpenToOthers(config)) return []
  const reach = `local mode listens on ${listenHost(config)}: every machine that reaches it uses your provider keys`
  const mend = 'Unset HOST, or use cloud mode, which accepts API keys only.'
  return [
    config.server.local_open ? advice(reach, mend) : fault(`${reach}, and SVC_LOCAL_OPEN does not allow it`, mend),
  ]
}

function checkUsers(config: Config): Finding[] {
  if (config.mode === 'local') return []
  try {
    assertModeComplete(config)
  } catch (error) {
    return [fault(`cloud mode cannot start: ${messageOf(error)}`, 'Set one of them; docs/accounts.md has recipes.')]
  }
  const { jwks_url: jwksUrl, audience, azp } = config.sessions
  const isUnpinned = jwksUrl !== undefined && audience === undefined && azp.length === 0
  return isUnpinned
    ? [
        advice(
          'session tokens that your identity provider issued for other services are accepted too',
          'Set SVC_SESSION_AUDIENCE or SVC_SESSION_AZP.',
        ),
      ]
    : [ok('users are verified')]
}

/** A configured cap locks the plugin that enforces it. */
function checkCaps({ costs, mode }: Config): Finding[] {
  const isCapped = Object.values(costs).some((cap) => typeof cap === 'number')
  if (!isCapped && mode === 'cloud')
    return [advice('nothing bounds what your provider keys may spend', 'Set caps in `costs`: see docs/costs.md.')]
  return isCapped ? [ok('caps are enforced')] : []
}

function checkBilling({ billing, server }: Config): Finding[] {
  if (billing.secret_key === undefined) return []
  const findings: Finding[] = []
  if (billing.webhook_secrets.length === 0)
    findings.push(
      fault('Stripe’s webhooks cannot be verified', 'Run `turnpike stripe setup`, and set STRIPE_WEBHOOK_SECRET.'),
    )
  if (server.public_url === undefined)
    findings.push(fault('Stripe cannot redirect users back', 'Set SVC_PUBLIC_URL to the address of this gateway.'))
  return findings.length > 0
    ? findings
    : [ok('billing is configured; `turnpike stripe reconcile` compares with Stripe')]
}
