import type { Middleware } from 'koa'
import { z } from 'zod'
import { parseFields } from '../../core/request/parse-fields.ts'
import type { BodyIntake } from '../body-intake.ts'
import type { ChallengeLimiter } from '../challenge-limiter.ts'
import { clientSubnet } from '../client-subnet.ts'
import { readControlBody } from '../control-body.ts'
import type { RequestState } from '../request-context.ts'

/** Path of the sandbox's wallet. */
export const SANDBOX_TOKENS_PATH = '/v1/agent/sandbox/tokens'

/** Marks each reply of a paid route in the sandbox. */
const SANDBOX_MARK = { 'x-svc-sandbox': 'payments; no money moves' }

/** Wallet of the sandbox. */
export interface SandboxWallet {
  /** Most cents of a token. */
  readonly mostCents: number
  grant(wanted: { mostCents: number; endsAtS?: number | undefined }): { token: string; endsAtS: number }
}

/** Dependencies of the route of the sandbox's wallet. */
export interface SandboxRouteOptions {
  readonly wallet: SandboxWallet
  readonly intakes: { readonly strangers: BodyIntake }
  readonly challengeLimiter: ChallengeLimiter
}

/** `POST /v1/agent/sandbox/tokens` with `{ "amount": 50 }`: grants a token for at most so many cents; sandbox alone. */
export function sandboxTokenRoute({
  wallet,
  intakes,
  challengeLimiter,
}: SandboxRouteOptions): Middleware<RequestState> {
  const order = z.strictObject({
    amount: z.coerce.number({ error: 'expected cents' }).int().min(1).max(wallet.mostCents),
    currency: z.literal('usd').default('usd'),
    expires_at: z.int().min(0).optional(),
  })
  return async function grantToken(ctx) {
    await challengeLimiter.admit(ctx.req)
    const sender = clientSubnet(ctx.req.socket.remoteAddress)
    const { amount, currency, expires_at } = parseFields(
      order,
      await readControlBody(ctx.req, { intake: intakes.strangers, sender }),
    )
    const { token, endsAtS } = wallet.grant({ mostCents: amount, endsAtS: expires_at })
    ctx.status = 201
    ctx.body = {
      object: 'sandbox.granted_token',
      sandbox: true,
      id: token,
      usage_limits: { currency, max_amount: amount, expires_at: endsAtS },
    }
  }
}

/** Marks replies as those of the sandbox. */
export const markSandbox: Middleware<RequestState> = async function markSandbox(ctx, next) {
  // Before the reply: errors and streams carry it too.
  for (const [name, value] of Object.entries(SANDBOX_MARK)) ctx.res.setHeader(name, value)
  await next()
}
