import type { Config } from '../config/schema.ts'
import type { Log } from '../core/ports/log.ts'
import type { RequestLimits } from '../http/rate-limit.ts'
import { RunningRequests } from '../http/running-requests.ts'
import { openLimiter } from '../stores/limits/open.ts'

/** Input of `openLimits`. */
export interface LimitsOptions {
  readonly config: Config
  readonly log: Log
  /** Counts the networks of keys; `undefined` without alerts. */
  readonly networks: RequestLimits['networks']
}

const MINUTE_MS = 60_000
const CLOUD_REQUESTS_PER_MINUTE = 600
const CLOUD_FAILURES_PER_MINUTE = 30
const CLOUD_REQUESTS_AT_ONCE = 1000

/** Rate limits and limits of concurrent requests. */
export interface OpenLimits extends RequestLimits {
  close(): Promise<void>
}

/** Opens the limits of requests: on by default in cloud mode, off by default in local mode. */
export async function openLimits({ config, log, networks }: LimitsOptions): Promise<OpenLimits> {
  const isCloud = config.mode === 'cloud'
  const open = async (namespace: string, limit: number) =>
    limit === 0
      ? undefined
      : openLimiter({ limit, windowMs: MINUTE_MS }, { redisUrl: config.redis_url, namespace, log })
  const { requests_per_minute: requests, failures_per_minute: failures, requests_at_once: asked } = config.limits
  const atOnce = asked ?? (isCloud ? CLOUD_REQUESTS_AT_ONCE : 0)
  const requestsPerMinute = requests ?? (isCloud ? CLOUD_REQUESTS_PER_MINUTE : 0)
  // A key of cloud mode may have a limit of its own without one of the operator.
  const perKey = await open('rate', requestsPerMinute || (isCloud ? CLOUD_REQUESTS_PER_MINUTE : 0))
  const perAddress = await open('failures', failures ?? (isCloud ? CLOUD_FAILURES_PER_MINUTE : 0))
  return {
    requestsPerMinute,
    running: atOnce === 0 ? undefined : new RunningRequests(atOnce),
    requests: perKey,
    failures: perAddress,
    networks,
    async close() {
      await Promise.all([perKey?.close(), perAddress?.close()])
    },
  }
}
