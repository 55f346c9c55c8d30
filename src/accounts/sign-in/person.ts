import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import type { GroupRole, GroupTeam } from '../../core/ports/sign-in.ts'
import { assertUserId } from '../sessions/user-id.ts'

/** Claims of an ID token, with those of the user info. */
export type Claims = Readonly<Record<string, unknown>>

/** Interpretation of claims. */
export interface PersonRules {
  /** Claim that identifies the account. */
  readonly userClaim: string
  readonly groupsClaim: string
  readonly teams: Readonly<Record<string, string | { readonly team: string; readonly role: 'member' | 'lead' }>>
  readonly roles: Readonly<Record<string, GroupRole>>
  /** Domains of verified addresses that may sign in; empty: any account. */
  readonly emailDomains: readonly string[]
}

/** A person as an identity provider describes it. */
export interface Person {
  readonly accountId: string
  readonly name: string | null
  /** Verified address; an unverified one is ignored. */
  readonly email: string | null
  readonly role: GroupRole | null
  readonly teams: readonly GroupTeam[]
}

const LONGEST_NAME = 200
const LONGEST_EMAIL = 320
const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}]/gu
const ADDRESS = /^[^\s@]+@([^\s@]+)$/

/** Returns the person of verified claims. Throws `permission_error` for one who may not sign in, `authentication_error` without an id. */
export function personOf(claims: Claims, rules: PersonRules): Person {
  const accountId = assertUserId(claims[rules.userClaim], rules.userClaim)
  const email = verifiedEmail(claims)
  assertDomain(email, rules.emailDomains)
  const groups = groupsOf(claims, rules.groupsClaim)
  return { accountId, name: nameOf(claims), email, role: roleOf(groups, rules), teams: teamsOf(groups, rules) }
}

function nameOf({ name, preferred_username: username }: Claims): string | null {
  for (const text of [name, username]) {
    const clean = typeof text === 'string' ? text.replaceAll(CONTROLS, '').trim().slice(0, LONGEST_NAME) : ''
    if (clean !== '') return clean
  }
  return null
}

function verifiedEmail({ email, email_verified: isVerified }: Claims): string | null {
  if (isVerified !== true || typeof email !== 'string' || email.length > LONGEST_EMAIL) return null
  return ADDRESS.test(email) && email.search(CONTROLS) < 0 ? email.toLowerCase() : null
}

function assertDomain(email: string | null, domains: readonly string[]): void {
  if (domains.length === 0) return
  const [, domain = ''] = ADDRESS.exec(email ?? '') ?? []
  if (domains.includes(domain)) return
  throw new GatewayError('permission_error', 'The account has no verified e-mail address of an accepted domain.')
}

/** Returns the groups in a claim: a list of texts, or one text. The name of the claim is looked up whole, then by its parts. */
function groupsOf(claims: Claims, name: string): ReadonlySet<string> {
  const value = Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name.split('.'))
  return new Set([value].flat().filter((group) => typeof group === 'string'))
}

function valueAt(claims: Claims, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (node, key) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, key) ? (node as Claims)[key] : undefined,
    claims,
  )
}

function roleOf(groups: ReadonlySet<string>, { roles }: PersonRules): GroupRole | null {
  const given = Object.entries(roles).flatMap(([group, role]) => (groups.has(group) ? [role] : []))
  return given.includes('operator') ? 'operator' : (given[0] ?? null)
}

/** Returns each team once, as lead if one of the groups leads. */
function teamsOf(groups: ReadonlySet<string>, { teams }: PersonRules): GroupTeam[] {
  const found = new Map<string, GroupTeam>()
  for (const [group, value] of Object.entries(teams)) {
    if (!groups.has(group)) continue
    const { team, role } = typeof value === 'string' ? { team: value, role: 'member' } : value
    const before = found.get(team.toLowerCase())
    const isLead = role === 'lead' || before?.isLead === true
    found.set(team.toLowerCase(), { team: before?.team ?? team, newId: before?.newId ?? createTeamId(), isLead })
  }
  return [...found.values()]
}

function createTeamId(): string {
  return `team_${randomUUID().replaceAll('-', '').slice(0, 22)}`
}
