import { z } from 'zod'
import { isLoopback } from '../core/system/listen-address.ts'
import { duration } from '../core/units.ts'
import { fromEnv } from '../providers/options.ts'
import { managedSettings } from './managed-settings.ts'

const name = z.string().trim().min(1).max(256)

/** An issuer's address: https, or http on this machine. Its identifier is compared exactly, so nothing is added or removed. */
const issuer = z
  .url({ protocol: /^https?$/, error: 'expected an https address' })
  .refine((text) => !text.startsWith('http:') || isLoopback(new URL(text).hostname), {
    error: 'expected an https address; http is for an issuer on this machine',
  })

const team = z.union([
  name,
  z.strictObject({
    team: name.describe('The team.'),
    role: z.enum(['member', 'lead']).default('member').describe('Role in it.'),
  }),
])

/** Sign-in by OpenID Connect, in cloud mode. */
export const signIn = z.strictObject({
  issuer: fromEnv(issuer.optional(), 'SVC_SIGN_IN_ISSUER').describe(
    'Identifier of the OpenID Connect provider, exactly as in its discovery document below `/.well-known/openid-configuration`. Set, the dashboard signs users in with it. Needs `client_id`, and `server.public_url` unless the gateway listens on this machine alone. Register `<public_url>/sign-in/callback` as the redirect address.',
  ),
  client_id: fromEnv(z.string().min(1).max(512).optional(), 'SVC_SIGN_IN_CLIENT_ID').describe(
    'Identifier of the gateway at the provider.',
  ),
  client_secret: fromEnv(z.string().min(1).optional(), 'SVC_SIGN_IN_CLIENT_SECRET', { secret: true }).describe(
    'Secret of the gateway at the provider. Unset: the gateway is a public client, with PKCE alone.',
  ),
  name: fromEnv(z.string().trim().min(1).max(60).default('single sign-on'), 'SVC_SIGN_IN_NAME').describe(
    'Name of the provider on the sign-in button.',
  ),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/))
    .default(['openid', 'profile', 'email'])
    .describe('Scopes to request; `openid` is always among them. Some providers need `groups` for the groups claim.'),
  groups_claim: fromEnv(z.string().min(1).default('groups'), 'SVC_SIGN_IN_GROUPS_CLAIM').describe(
    'Claim that lists the user’s groups; dots lead into objects, e.g. `realm_access.roles`.',
  ),
  teams: z
    .record(name, team)
    .default({})
    .describe(
      'Teams by group, e.g. `{ eng: Engineering, eng-leads: { team: Engineering, role: lead } }`. Each sign-in adds and removes these memberships; a missing team is created. Memberships that were set by hand stay as they are.',
    ),
  roles: z
    .record(name, z.enum(['viewer', 'operator']))
    .default({})
    .describe(
      'Roles by group, in force for all sessions of a person from the next sign-in on. `operator` sees and manages everything; `viewer` changes nothing, unless the account has a role of its own.',
    ),
  email_domains: z
    .array(z.string().regex(/^[a-z0-9.-]+$/, { error: 'expected a domain in lower case, such as `example.com`' }))
    .default([])
    .describe(
      'Domains of accounts that may sign in, by their verified e-mail address. Empty: all accounts of the provider. Set it with a provider that is open to the public, such as Google.',
    ),
  session_lifetime: duration({ min: '5m', max: '30d' })
    .prefault('12h')
    .describe('Longest time of a browser’s session. Groups are read again at the next sign-in.'),
  session_idle: duration({ min: '5m', max: '30d' })
    .prefault('2h')
    .describe('Time after which an unused session of a browser ends.'),
  command_lifetime: duration({ min: '1h', max: '90d' })
    .prefault('30d')
    .describe('Longest time of a session of `turnpike login`.'),
  command_idle: duration({ min: '1h', max: '90d' })
    .prefault('7d')
    .describe('Time after which an unused session of `turnpike login` ends.'),
  managed_settings: managedSettings.describe(
    'Managed settings that Claude Code fetches where it is signed in to this gateway, at its start and every hour: the first entry applies that names one of the user’s teams, by its name or id, or names none. An entry is `{ teams: [Contractors], settings: { permissions: { deny: [WebFetch] } } }`; `settings` is a document like `managed-settings.json`, and is applied whole. Its hooks and commands run on the machines of users. Empty: no managed settings.',
  ),
})
