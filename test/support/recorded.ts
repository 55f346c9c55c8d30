import { eventually } from './eventually.ts'
import { type Reply, send } from './http-client.ts'

/**
 * Waits until the dashboard of a gateway in local mode has the row of a reply, and of those before it: a page that is
 * opened earlier shows none, until it is loaded again.
 */
export async function untilRecorded({ url }: { readonly url: string }, { headers }: Reply): Promise<void> {
  const path = `/dashboard/api/requests/${headers['x-svc-receipt']}`
  await eventually(async () => (await send(url, { method: 'GET', path })).status === 200, 'the row of a request')
}
