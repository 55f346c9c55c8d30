import type { RouteEntry } from './routes.ts'
import { anyOf, count, list, object, ref, text, time } from './shapes.ts'

const SESSION = { access: 'session', only: 'sign-in' } as const
const OPEN = { access: 'none', only: 'sign-in' } as const

/** Routes of sessions and of clients that sign in, where sign-in is configured. */
export const SIGN_IN_ROUTES: readonly RouteEntry[] = [
  { method: 'get', path: '/v1/sessions', summary: 'Lists the user’s sessions.', ...SESSION, reply: 'SessionList' },
  {
    method: 'delete',
    path: '/v1/sessions/{id}',
    summary: 'Ends one of the user’s sessions.',
    ...SESSION,
    status: '204',
  },
  {
    method: 'get',
    path: '/v1/admin/people/{id}/sessions',
    summary: 'Lists a person’s sessions, for operators.',
    ...SESSION,
    reply: 'SessionList',
  },
  {
    method: 'delete',
    path: '/v1/admin/people/{id}/sessions',
    summary: 'Ends all sessions of a person, for operators.',
    ...SESSION,
    reply: 'EndedSessions',
  },
  {
    method: 'get',
    path: '/.well-known/oauth-authorization-server',
    summary: 'Returns the endpoints for clients that sign in (RFC 8414).',
    ...OPEN,
    reply: 'any',
  },
  {
    method: 'post',
    path: '/oauth/device_authorization',
    summary: 'Begins a client’s sign-in, which a user approves (RFC 8628).',
    ...OPEN,
    body: 'form',
    reply: 'DeviceAuthorization',
  },
  {
    method: 'post',
    path: '/oauth/token',
    summary: 'Returns the token of an approved sign-in, or refreshes it.',
    ...OPEN,
    body: 'form',
    reply: 'Token',
  },
  {
    method: 'post',
    path: '/oauth/revoke',
    summary: 'Ends a session by its token (RFC 7009).',
    ...OPEN,
    body: 'form',
    reply: 'any',
  },
]

const session = {
  id: text,
  kind: anyOf('browser', 'command'),
  client: { ...text, description: 'What the browser or client calls itself.' },
  createdAt: time,
  lastSeenAt: time,
  expiresAt: time,
  isCurrent: { type: 'boolean', description: 'It is the session of this request.' },
}

/** Schemas of those routes. */
export const SIGN_IN_SCHEMAS = {
  UserSession: object(session),
  SessionList: object({ sessions: list(ref('UserSession')) }),
  EndedSessions: object({ ended: count }),
  DeviceAuthorization: object({
    device_code: text,
    user_code: text,
    verification_uri: text,
    verification_uri_complete: text,
    expires_in: { ...count, description: 'Seconds.' },
    interval: { ...count, description: 'Seconds between two polls.' },
  }),
  Token: object(
    { access_token: text, token_type: anyOf('Bearer'), expires_in: { ...count, description: 'Seconds.' } },
    { refresh_token: text },
  ),
} as const
