import type { RouteEntry } from './routes.ts'
import { anyOf, count, list, nullable, object, ref, text, time } from './shapes.ts'

const SESSION = { access: 'session', only: 'sign-in' } as const
const OPEN = { access: 'none', only: 'sign-in' } as const
const KEY = { access: 'key', only: 'sign-in' } as const

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
  {
    method: 'get',
    path: '/managed/settings',
    summary: 'Returns the managed settings of the caller’s Claude Code; 404 without any.',
    ...KEY,
    reply: 'ManagedSettings',
  },
  {
    method: 'get',
    path: '/api/oauth/usage',
    summary: 'Returns the caller’s caps with what is used of them, for Claude Code: cents, and whole percents.',
    ...KEY,
    reply: 'OwnUsage',
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

const cents = { ...count, description: 'US cents.' }
const unlimited = object({ limit: { type: 'null' }, used_credits: cents, utilization: { type: 'null' } })

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
  ManagedSettings: object({
    uuid: text,
    checksum: { ...text, description: '`sha256:` and the SHA-256 of the settings’ canonical JSON; quoted, the ETag.' },
    settings: { type: 'object' },
  }),
  OwnUsage: object(
    {
      limits: list(
        object({
          kind: anyOf('spend'),
          group: anyOf('daily', 'monthly'),
          percent: count,
          resets_at: time,
          severity: anyOf('normal', 'warning', 'critical'),
          is_active: { type: 'boolean', description: 'It is the fullest, which `extra_usage` describes.' },
        }),
      ),
    },
    {
      extra_usage: object(
        {
          is_enabled: { type: 'boolean' },
          monthly_limit: { ...nullable('integer'), description: 'US cents of the fullest cap, whatever its period.' },
          used_credits: cents,
          utilization: { ...nullable('integer'), description: 'Percent.' },
          currency: anyOf('USD'),
        },
        { daily: unlimited, weekly: unlimited },
      ),
    },
  ),
} as const
