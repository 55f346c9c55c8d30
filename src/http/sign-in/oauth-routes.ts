import type { Context, Middleware } from 'koa'
import { DEVICE_TTL_MS, POLL_SECONDS } from '../../accounts/sign-in/devices.ts'
import { createAuditId, hashOf, isSessionToken } from '../../accounts/sign-in/secrets.ts'
import type { BodyIntake } from '../body-intake.ts'
import { clientSubnet } from '../client-subnet.ts'
import type { RequestState } from '../request-context.ts'
import { clientName, countAddress, publicUrlOf, type SignInParts } from './options.ts'

/** Dependencies of the OAuth endpoints of command lines. */
export interface OauthRouteOptions extends SignInParts {
  /** Intake of clients without a credential. */
  readonly intake: BodyIntake
}

/** Client that gets a session; all others get a key of the user, and the session to refresh it. */
const OWN_CLIENT = 'turnpike'
const REFRESH_GRANT = 'refresh_token'
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const LIMIT_BYTES = 8 * 1024
/** Requests per minute of one address: new devices, and polls, of which one device sends 12. */
const MOST_DEVICES = 30
const MOST_POLLS = 600

/** `GET /.well-known/oauth-authorization-server`: the endpoints for command lines (RFC 8414). */
export function metadataRoute(parts: SignInParts): Middleware<RequestState> {
  return function showMetadata(ctx) {
    const issuer = publicUrlOf(parts, ctx)
    ctx.body = {
      issuer,
      device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      grant_types_supported: [DEVICE_GRANT, REFRESH_GRANT],
      // Claude Code's gateway protocol.
      gateway_protocol_version: 1,
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
    }
  }
}

/** `POST /oauth/device_authorization`: begins a command line's request (RFC 8628, 3.1). */
export function deviceAuthorizationRoute(options: OauthRouteOptions): Middleware<RequestState> {
  return async function authorizeDevice(ctx) {
    await countAddress(options, ctx.req, { what: 'device', most: MOST_DEVICES })
    const form = await readForm(ctx, options.intake)
    // Claude Code sends none.
    const clientId = form?.get('client_id') || ctx.get('user-agent')
    const device = form?.get('device_name')
    const client = clientName(device ? `${clientId} on ${device}` : clientId)
    const { deviceCode, userCode } = await options.devices.begin(client, clientSubnet(ctx.req.socket.remoteAddress))
    const page = `${publicUrlOf(options, ctx)}/#/device`
    ctx.body = {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}/${userCode}`,
      expires_in: DEVICE_TTL_MS / 1000,
      interval: POLL_SECONDS,
    }
  }
}

/** `POST /oauth/token`: a command line's poll for its session. */
export function tokenRoute(options: OauthRouteOptions): Middleware<RequestState> {
  return async function answerPoll(ctx) {
    await countAddress(options, ctx.req, { what: 'poll', most: MOST_POLLS })
    const form = await readForm(ctx, options.intake)
    const grant = form?.get('grant_type')
    if (grant === REFRESH_GRANT) return refreshKey(ctx, options, form?.get('refresh_token') ?? '')
    if (grant !== DEVICE_GRANT)
      return refuse(ctx, 'unsupported_grant_type', `Expected the grant \`${DEVICE_GRANT}\` or \`${REFRESH_GRANT}\`.`)
    const hasKey = form?.get('client_id') !== OWN_CLIENT
    const outcome = await options.devices.redeem(form?.get('device_code') ?? '', { hasKey })
    const { kind } = outcome
    switch (kind) {
      case 'approved':
        ctx.body = tokenBody(outcome)
        return
      case 'pending':
        return refuse(ctx, 'authorization_pending', 'The user has not decided yet.')
      case 'slow':
        return refuse(ctx, 'slow_down', `Poll every ${POLL_SECONDS} seconds.`)
      case 'denied':
      case 'suspended':
        return refuse(ctx, 'access_denied', 'The request was denied.')
      case 'unknown':
        return refuse(ctx, 'expired_token', 'The request has expired, or its session was given out already.')
      default:
        kind satisfies never
    }
  }
}

async function refreshKey(ctx: Context, { devices }: OauthRouteOptions, refreshToken: string): Promise<void> {
  const key = isSessionToken(refreshToken) ? await devices.refresh(refreshToken) : undefined
  if (key !== undefined) ctx.body = tokenBody({ ...key, refreshToken })
  else refuse(ctx, 'invalid_grant', 'The session has ended: sign in again.', 401)
}

function tokenBody({ token, lifetimeMs, refreshToken }: { token: string; lifetimeMs: number; refreshToken?: string }) {
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: Math.floor(lifetimeMs / 1000),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  }
}

/** `POST /oauth/revoke`: ends a session by its token; succeeds for an unknown one too (RFC 7009). */
export function revokeRoute(options: OauthRouteOptions): Middleware<RequestState> {
  return async function revokeToken(ctx) {
    await countAddress(options, ctx.req, { what: 'revoke', most: MOST_POLLS })
    const token = (await readForm(ctx, options.intake))?.get('token')
    if (!token) return refuse(ctx, 'invalid_request', 'Expected a form with `token`.')
    if (isSessionToken(token)) await options.store.end({ hash: hashOf(token), auditId: createAuditId() })
    ctx.status = 200
    ctx.body = {}
  }
}

/** Reads a form of single fields; `undefined` for another content type or a repeated field. */
async function readForm(ctx: Context, intake: BodyIntake): Promise<URLSearchParams | undefined> {
  const sender = clientSubnet(ctx.req.socket.remoteAddress)
  const bytes = await intake.read(ctx.req, { sender, limitBytes: LIMIT_BYTES })
  if (!ctx.is('application/x-www-form-urlencoded')) return undefined
  const form = new URLSearchParams(bytes.toString())
  return new Set(form.keys()).size === form.size ? form : undefined
}

function refuse(ctx: Context, error: string, words: string, status = 400): void {
  ctx.status = status
  ctx.body = { error, error_description: words }
}
