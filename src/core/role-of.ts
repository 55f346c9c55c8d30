import type { AccountStanding, Role } from './ports/people.ts'
import type { GroupRole } from './ports/sign-in.ts'

/** Roles in their order: each may do all that those before it may. */
const RANKS: readonly Role[] = ['viewer', 'member', 'lead', 'operator']

/** Facts that give an account its role. */
export interface RoleFacts extends Pick<AccountStanding, 'role' | 'leads'> {
  /** Role that the identity provider's groups give. */
  readonly groupRole?: GroupRole | null | undefined
  /** True where the claims of a session make an operator. */
  readonly isOperator?: boolean
}

/** Returns the role of an account, the highest of those that it has. */
export function roleOf({ role: stored, leads, groupRole, isOperator = false }: RoleFacts): Role {
  const roles: readonly Role[] = [
    // A group restricts an account that has no role of its own.
    groupRole === 'viewer' && stored === 'member' ? 'viewer' : stored,
    ...(leads.length > 0 ? (['lead'] as const) : []),
    ...(isOperator || groupRole === 'operator' ? (['operator'] as const) : []),
  ]
  return RANKS.findLast((role) => roles.includes(role)) ?? 'viewer'
}
