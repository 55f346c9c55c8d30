import { messageOf } from '../../core/errors.ts'
import type { Authorization, PaymentGateway, SettlementMode } from '../../core/ports/payments.ts'

/** Result of one check. */
export interface Finding {
  readonly ok: boolean
  readonly says: string
}

/** Inputs of the trial. */
export interface TrialOptions {
  readonly gateway: PaymentGateway
  /** Makes a wallet grant a test token for this many cents. */
  readonly grantTestToken: (amountCents: number) => Promise<string>
  readonly mode: SettlementMode
  readonly amountCents: number
  /** Id of the trial; never that of a challenge. */
  readonly trialId: string
}

/** Tries a payment from its token to its end, in test mode: checks that money is held, captured and released correctly. */
export async function tryPayment(options: TrialOptions): Promise<Finding[]> {
  const { grantTestToken, amountCents, mode } = options
  const findings: Finding[] = []
  const token = await attempt(findings, 'A wallet grants a test token', () => grantTestToken(amountCents))
  if (token === undefined) return findings
  const wanted = mode === 'manual' ? 'authorized' : 'captured'
  const what = mode === 'manual' ? 'The money is held' : 'The money is taken'
  const authorization = await attempt(findings, what, () => authorizeAs(wanted, token, options))
  if (authorization === undefined || mode === 'automatic') return findings
  const payment = { challengeId: options.trialId, reference: authorization.reference }
  await attempt(findings, 'What is held is let go', async () => {
    const outcome = await options.gateway.cancel(payment)
    if (outcome !== 'canceled') throw new Error('it was taken')
  })
  return findings
}

type Authorized = Exclude<Authorization, { kind: 'refused' }>

async function authorizeAs(
  wanted: Authorized['kind'],
  token: string,
  { gateway, mode, amountCents, trialId }: TrialOptions,
): Promise<Authorized> {
  const order = { challengeId: trialId, amountCents, currency: 'usd', token, settlement: mode }
  const authorization = await gateway.authorize(order)
  if (authorization.kind === 'refused') throw new Error(authorization.reason)
  if (authorization.kind !== wanted) throw new Error(`it is ${authorization.kind}; set the other \`mpp.settlement\``)
  return authorization
}

async function attempt<Result>(
  findings: Finding[],
  says: string,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const result = await work()
    findings.push({ ok: true, says })
    return result
  } catch (error) {
    findings.push({ ok: false, says: `${says}: ${messageOf(error)}` })
    return undefined
  }
}
