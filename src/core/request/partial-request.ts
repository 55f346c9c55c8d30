import type { DialectName } from '../reply/reply-dialect.ts'
import type { Caller } from './caller.ts'
import type { RouteName } from './route-name.ts'

/** As much of a request as was read of it before it was refused; filled in as it is read. */
export interface PartialRequest {
  /** Unset: not a model request, so that it is logged and not listed. */
  readonly route?: RouteName
  readonly dialect?: DialectName
  /** Unset until the credential is known to be of a key. */
  caller?: Caller | undefined
  model?: string | undefined
}
