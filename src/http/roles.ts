import { GatewayError } from '../core/errors.ts'
import type { Role } from '../core/ports/people.ts'

/** Roles in their order: each may do all that those before it may. */
const RANKS: readonly Role[] = ['viewer', 'member', 'lead', 'operator']

/** Returns the highest of some roles, at least `viewer`. */
export function highestRole(roles: readonly Role[]): Role {
  return RANKS.findLast((role) => roles.includes(role)) ?? 'viewer'
}

/** Refusal of what a user's role does not allow. It is recorded in the audit log, see `createRefusalAudit`. */
export class RoleRefused extends GatewayError {
  readonly userId: string

  constructor(userId: string, message: string) {
    super('permission_error', message)
    this.userId = userId
  }
}
