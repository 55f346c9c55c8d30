import type { DialectName } from '../reply/reply-dialect.ts'
import type { Caller } from './caller.ts'
import type { RouteName } from './route-name.ts'

/** The parts of a request that were read before it was refused; filled in as it is read. */
export interface PartialRequest {
  /** Unset: not a model request, so it is logged and not listed. */
  readonly route?: RouteName
  readonly dialect?: DialectName
  /** Unset until the credential is authenticated. */
  caller?: Caller | undefined
  /** Unset until the headers are read: those of the caller's key. */
  tags?: readonly string[] | undefined
  model?: string | undefined
  /** Headers of a model request, lower-case names. */
  readonly headers?: NodeJS.Dict<string | string[]>
}
