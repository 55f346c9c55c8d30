import type { RequestDocument } from '../../core/request/request.ts'

/** Returns true when the client of a stream requested its usage. */
export function wantsUsage(request: RequestDocument): boolean {
  // Safe: checked when the request was parsed.
  const options = request.field('stream_options') as { include_usage?: boolean | null } | null | undefined
  return options?.include_usage === true
}
