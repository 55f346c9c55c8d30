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
