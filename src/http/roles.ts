import { GatewayError } from '../core/errors.ts'

/** Refusal of what a user's role does not allow. It is recorded in the audit log, see `createRefusalAudit`. */
export class RoleRefused extends GatewayError {
  readonly userId: string

  constructor(userId: string, message: string) {
    super('permission_error', message)
    this.userId = userId
  }
}
