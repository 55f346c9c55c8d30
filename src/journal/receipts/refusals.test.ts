import test from 'ava'
import { GatewayError } from '../../core/errors.ts'
import type { RequestRecord } from '../../core/ports/request-record.ts'
import type { FinishedRequest } from '../../core/telemetry/telemetry.ts'
import { Refusals } from './refusals.ts'

const MINUTE_MS = 60_000

function open() {
  const state = { nowMs: 1_795_305_600_000 }
  const rows: FinishedRequest[] = []
  const refusals = new Refusals({ record: (row) => rows.push(row) })
  /** Refuses requests of a scope, or of a caller without a known key; returns the reasons of their rows. */
  const refuse = (count: number, scope?: string, parts: Partial<RequestRecord> = {}): string[] => {
    const before = rows.length
    for (let i = 0; i < count; i++) refusals.note({ ...recordOf(scope, state.nowMs), ...parts })
    return rows.slice(before).map(({ reason }) => String(reason))
  }
  return { state, rows, refuse }
}

function recordOf(scope: string | undefined, endedAtMs: number): RequestRecord {
  const caller = scope === undefined ? undefined : ({ kind: 'key', scope, keyId: scope, userId: 'u' } as const)
  return {
    exchange: undefined,
    partialRequest: { route: 'messages', dialect: 'messages', caller, model: 'm' },
    requestId: 'req_1',
    method: 'POST',
    path: '/v1/messages',
    route: '/v1/messages',
    status: 400,
    durationMs: 1,
    endedAtMs,
    delivered: true,
    error: new GatewayError('invalid_request', 'It is wrong.'),
    hide: (text) => text,
  }
}

test('refusals: the next row of a scope counts those without one, once', (t) => {
  const { state, refuse } = open()
  t.is(refuse(65, 'key:a').length, 60)
  state.nowMs += MINUTE_MS / 5
  const [first, second, ...others] = refuse(4, 'key:a')
  t.regex(String(first), /\(5 refused before it are not listed\)$/)
  t.notRegex(String(second), /not listed/)
  t.deepEqual(others, [])
  state.nowMs += MINUTE_MS
  t.regex(String(refuse(1, 'key:a')[0]), /\(2 refused before it are not listed\)$/)
})

test('refusals: each scope has rows of its own, and callers without a key share the fewest', (t) => {
  const { state, rows, refuse } = open()
  t.deepEqual([refuse(100, 'key:a').length, refuse(100, 'key:b').length, refuse(100).length], [60, 60, 60])
  state.nowMs += MINUTE_MS
  t.deepEqual([refuse(100, 'key:a').length, refuse(100).length], [10, 1])
  t.deepEqual([...new Set(rows.map(({ scope }) => scope))], ['key:a', 'key:b', ''])
})

test('refusals: all scopes together have a limit, which renews', (t) => {
  const { state, rows, refuse } = open()
  for (let i = 0; i < 20; i++) refuse(40, `key:${i}`)
  t.is(rows.length, 600)
  state.nowMs += MINUTE_MS
  for (let i = 0; i < 20; i++) refuse(10, `key:${i}`)
  t.is(rows.length, 700)
})

test('refusals: a request with a receipt, a client that left, and other routes have no row', (t) => {
  const { refuse } = open()
  t.is(refuse(1, 'key:a', { error: undefined }).length, 0)
  t.is(refuse(1, 'key:a', { partialRequest: undefined }).length, 0)
  t.is(refuse(1, 'key:a', { delivered: false, error: new Error('the client left') }).length, 0)
  t.is(refuse(1, 'key:a', { delivered: false }).length, 1)
})
