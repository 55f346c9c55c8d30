import type { Context } from 'koa'
import { assertLoopback } from '../own-page.ts'
import { assertOperator, type ReadViewer } from '../viewer.ts'
import type { Author } from './control.ts'

/** Account in the audit log of local mode, which has none. */
const NO_ACCOUNT = 'local'

/**
 * Returns the author of a change of settings: an operator; in local mode a client on this machine, whatever
 * `dashboard.access` is. Throws `permission_error`, and what the viewer throws.
 */
export async function authorOf(ctx: Context, viewer: ReadViewer): Promise<Author> {
  const seen = await viewer(ctx)
  assertOperator(seen, 'Settings')
  const { userId } = seen
  if (userId !== undefined) return { actor: `user:${userId}`, accountId: userId }
  assertLoopback(ctx)
  return { actor: 'operator', accountId: NO_ACCOUNT }
}
