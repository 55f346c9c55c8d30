import type { ExecutionContext } from 'ava'
import { bearer, createKey } from '../support/accounts.ts'
import { ask, type SendOptions, send } from '../support/http-client.ts'
import type { Script } from '../support/provider/script.ts'
import { type Cluster, openCluster } from './cluster.ts'

/** Scripts of the provider by text of the request; tests run concurrently. */
export const scripts: [text: string, script: () => Script][] = []

let opened: Promise<Cluster> | undefined
const open = () => {
  opened ??= openCluster({ env: { SVC_PIPELINE: 'exact-cache', SVC_RATE_LIMIT: '0' } }).then((cluster) => {
    cluster.provider.reply((request) => scripts.find(([text]) => request.raw.includes(text))?.[1]())
    return cluster
  })
  return opened
}

/** Opens a caller with a key of its own on the cluster of the file. */
export async function openCaller(t: ExecutionContext) {
  t.timeout(120_000)
  const cluster = await open()
  const { key } = await createKey(cluster, t.title)
  const post = (text: string, options: SendOptions & { stream?: boolean; at?: string } = {}) =>
    send(options.at ?? cluster.url, {
      ...options,
      headers: { ...bearer(key), ...options.headers },
      body: ask(text, { ...(options.stream && { stream: true }) }),
    })
  const calls = (text: string) => cluster.provider.seen.filter(({ raw }) => raw.includes(text)).length
  return { cluster, post, calls }
}

const MOST_ATTEMPTS = 4

/**
 * Runs a test that needs a Redis which answers within the gateways' deadline of 250 ms, on a machine where it may not: then
 * they go on without it, as promised, and log it, and the test is repeated. `nth` makes its requests others.
 */
export async function withPromptRedis(
  t: ExecutionContext,
  { gateways }: Cluster,
  run: (t: ExecutionContext, nth: string) => Promise<void>,
): Promise<void> {
  const failures = () => gateways.reduce((all, { log }) => all + log().split('"store.failed"').length - 1, 0)
  for (let nth = 1; ; nth++) {
    const before = failures()
    const attempt = await t.try((inner) => run(inner, `attempt ${nth}`))
    if (attempt.passed || failures() === before || nth === MOST_ATTEMPTS) return attempt.commit()
    attempt.discard()
  }
}
