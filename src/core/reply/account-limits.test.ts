import test from 'ava'
import { removeAccountLimits } from './account-limits.ts'

test('account limits: those of every provider are removed, other headers stay', (t) => {
  const removed = [
    ...['anthropic-ratelimit-requests-limit', 'anthropic-ratelimit-unified-5h-utilization'],
    ...['anthropic-priority-input-tokens-limit', 'anthropic-fast-output-tokens-remaining'],
    ...['x-ratelimit-limit-requests', 'x-rate-limit-limit', 'ratelimit', 'ratelimit-policy', 'ratelimit-reset'],
    ...['x-codex-primary-used-percent', 'x-codex-secondary-reset-at', 'x-codex-promo-message'],
    ...['anthropic-organization-id', 'openai-organization', 'openai-project'],
    ...['x-codex-bengalfox-primary-used-percent', 'x-codex-active-limit', 'x-codex-credits-balance'],
  ]
  const kept = [
    'x-svc-budget-day-limit',
    'x-codex-turn-state',
    'my-x-ratelimit-limit',
    'retry-after',
    'request-id',
    'openai-version',
  ]
  const headers: Record<string, unknown> = Object.fromEntries([...removed, ...kept].map((name) => [name, '1']))
  removeAccountLimits(headers)
  t.deepEqual(Object.keys(headers), kept)
})
