import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { stripeClientOf } from '../app/billing.ts'
import { type Finding, tryPayment } from '../commerce/agent-payments/doctor.ts'
import { createStripeGateway } from '../commerce/agent-payments/stripe/gateway.ts'
import { grantTestToken } from '../commerce/agent-payments/stripe/test-token.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { addHelp } from './help.ts'
import { addReportCommand } from './mpp-report.ts'
import { addTryCommand } from './mpp-try.ts'
import { commandLog } from './offline.ts'

const TRIAL_CENTS = 50
/** Realm of no real service, so that traces of a trial are not mistaken for payments. */
const TRIAL_REALM = 'doctor.invalid'

/** Adds `turnpike mpp`: checks agent payments, and reports them. */
export function addMppCommand(program: Command): void {
  const mpp = program.command('mpp').description('Payments by agents.')
  addReportCommand(mpp)
  addTryCommand(mpp)
  const doctor = mpp
    .command('doctor')
    .description('Check the configuration of payments by agents; with a test key of Stripe, try one from end to end.')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { config } = loadConfig(process.env)
      const findings = [...configurationOf(config), ...(await trialOf(config))]
      if (json) process.stdout.write(`${JSON.stringify(findings, undefined, 2)}\n`)
      else for (const { ok, says } of findings) process.stdout.write(`${ok ? 'ok     ' : 'FAILED '} ${says}\n`)
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1
    })
  addHelp(doctor, { examples: ['turnpike mpp doctor'], exits: { 1: 'something is missing or fails' } })
}

function configurationOf({ mpp, billing, server }: Config): Finding[] {
  if (mpp.enabled === 'sandbox')
    return [{ ok: true, says: 'Sandbox: no money moves. Try a payment with `turnpike mpp try`' }]
  const has = (ok: boolean, option: string): Finding => ({ ok, says: `\`${option}\` is ${ok ? '' : 'not '}set` })
  return [
    has(mpp.secret !== undefined, 'mpp.secret'),
    has((mpp.realm ?? server.public_url) !== undefined, 'mpp.realm'),
    has(mpp.network_id !== undefined, 'mpp.network_id'),
    has(billing.secret_key !== undefined, 'billing.secret_key'),
  ]
}

/** Skips the trial with a live key: money would move. */
async function trialOf(config: Config): Promise<Finding[]> {
  const { mpp, billing } = config
  const stripe = stripeClientOf(config)
  const { network_id: networkId, settlement: mode } = mpp
  if (stripe === undefined || networkId === undefined || billing.secret_key === undefined) return []
  if (!/^[sr]k_test_/.test(billing.secret_key))
    return [{ ok: true, says: 'The key is a live one: no payment is attempted. Try one with a test key' }]
  return tryPayment({
    gateway: createStripeGateway({ stripe, realm: TRIAL_REALM, log: commandLog }),
    grantTestToken: async (amountCents) =>
      grantTestToken(await stripe(), { amountCents, networkId, nowMs: Date.now() }),
    mode,
    amountCents: TRIAL_CENTS,
    trialId: `doctor-${randomUUID()}`,
  })
}
