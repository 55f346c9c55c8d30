import type { RequestDocument } from '../../core/request/request.ts'

/** Whether the client of a stream has asked for its usage. */
export function wantsUsage(request: RequestDocument): boolean {
  // Safe: checked when the request was taken in.
  const options = request.field('stream_options') as { include_usage?: boolean | null } | null | undefined
  return options?.include_usage === true
}
