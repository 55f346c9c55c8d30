import test from 'ava'
import { GatewayError } from '../core/errors.ts'
import type { Alert, AlertStore, DeliveryResult, DueDelivery, RoutedAlert, StoredAlert } from '../core/ports/alerts.ts'
import { DeliveryFault } from './channels/channel.ts'
import { createOutbox } from './outbox.ts'

const ALERT: Alert = {
  kind: 'health',
  subject: 'store',
  severity: 'critical',
  title: 'The database does not answer.',
  details: {},
  dedupeKey: 'log:store.failed',
}
const RETRY_MS = 1000
const MOST_TRIES = 30

interface Parts {
  raise?: AlertStore['raise']
  take?: AlertStore['take']
  send?: (alert: StoredAlert) => Promise<void>
}

/** Opens an outbox with one channel; its parts do nothing unless given. */
function open({ raise = async () => [], take = async () => [], send = async () => {} }: Parts) {
  const settled: DeliveryResult[] = []
  const events: string[] = []
  const write = (_: object, event: string) => void events.push(event)
  const log = { debug: write, info: write, warn: write, error: write, child: () => log }
  const unused = () => Promise.reject(new Error('not used'))
  const store: AlertStore = {
    raise,
    take,
    settle: async (results) => void settled.push(...results),
    list: unused,
    lease: unused,
    crossedCaps: unused,
    blockedAccess: unused,
    prune: unused,
  }
  const channels = [{ name: 'ops', kind: 'slack', kinds: new Set(['health'] as const), send }] as const
  const outbox = createOutbox({ store, channels, retryMs: RETRY_MS, clock: { nowMs: () => 0 }, log })
  return { outbox, settled, events }
}

test('outbox: raising never waits or throws, and at most 200 alerts wait for the database', async (t) => {
  const batches: number[] = []
  const { outbox, events } = open({
    raise: (alerts) => {
      batches.push(alerts.length)
      return new Promise(() => {})
    },
  })
  for (let i = 0; i < 1000; i++) outbox.raise({ ...ALERT, dedupeKey: String(i) })
  await outbox.close(10)
  t.deepEqual(batches, [20], 'one batch is in flight')
  t.true(events.includes('alerts.not-stored'))
})

test('outbox: without the database a critical alert is sent, once for its key', async (t) => {
  const { promise: sent, resolve } = Promise.withResolvers<StoredAlert>()
  let sends = 0
  let tries = 0
  const { outbox } = open({
    raise: async () => {
      tries++
      throw new GatewayError('service_unavailable', 'The database is down.')
    },
    send: async (alert) => {
      sends++
      resolve(alert)
    },
  })
  outbox.raise(ALERT)
  outbox.raise(ALERT)
  outbox.raise({ ...ALERT, severity: 'warning', dedupeKey: 'other' })
  const keepAlive = setTimeout(() => {}, 20_000)
  t.like(await sent, { title: ALERT.title, severity: 'critical' })
  clearTimeout(keepAlive)
  await outbox.close(1000)
  t.true(tries > 1, 'it was tried again at the end')
  t.is(sends, 1)
})

test('outbox: a failed delivery is due after a pause that doubles up to an hour, and is given up in the end', async (t) => {
  const due = [1, 2, 5, 20, MOST_TRIES].map((tries): DueDelivery => {
    const alert = { ...ALERT, id: `alert_${tries}`, atMs: 0 }
    return { channel: 'ops', tries, alert }
  })
  const { outbox, settled } = open({
    take: async () => due.splice(0),
    send: async ({ id }) => {
      throw id === 'alert_2' ? new Error('https://secret.example') : new DeliveryFault('status 503')
    },
  })
  await outbox.sendDue()
  await outbox.close(0)
  const error = 'status 503'
  const about = (tries: number) => ({ alertId: `alert_${tries}`, channel: 'ops' })
  t.deepEqual(settled, [
    { ...about(1), state: 'due', error, retryMs: RETRY_MS },
    { ...about(2), state: 'due', error: 'internal error', retryMs: 2 * RETRY_MS },
    { ...about(5), state: 'due', error, retryMs: 16 * RETRY_MS },
    { ...about(20), state: 'due', error, retryMs: 3_600_000 },
    { ...about(MOST_TRIES), state: 'failed', error },
  ])
})

test('outbox: an alert goes to the channels of its kind', async (t) => {
  const raised: RoutedAlert[] = []
  const { outbox } = open({
    raise: async (alerts) => {
      raised.push(...alerts)
      return []
    },
  })
  outbox.raise(ALERT)
  outbox.raise({ ...ALERT, kind: 'cap' })
  await outbox.close(1000)
  t.deepEqual(
    raised.map(({ kind, channels }) => [kind, channels]),
    [
      ['health', ['ops']],
      ['cap', []],
    ],
  )
})
