import '../parts/badges.css'
import { useState } from 'preact/hooks'
import type { ListedAlert, ListedDelivery } from '../../../src/core/ports/alerts.ts'
import { call } from '../api.ts'
import { moment } from '../format.ts'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { useData } from '../use-data.ts'

interface Channel {
  readonly name: string
  readonly kind: string
  readonly kinds: readonly string[]
}

interface Alerts {
  readonly isOn: boolean
  readonly channels: readonly Channel[]
  readonly data: readonly ListedAlert[]
}

const BADGES = { info: 'fine', warning: 'warm', critical: 'failed' } as const
const STATES = { due: 'waiting', sent: 'sent', failed: 'given up' } as const
const EXAMPLE = `alerts:
  channels:
    ops: { kind: slack, url: "\${SLACK_WEBHOOK}" }`

/** Page of the channels of alerts, and of the latest alerts. */
export function AlertsPage() {
  const { data, error, isBusy, reload } = useData<Alerts>('/dashboard/api/alerts')
  return (
    <>
      <div class="page-head">
        <h1>Alerts</h1>
        <button type="button" class="quiet small" onClick={reload}>
          Refresh
        </button>
      </div>
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="alerts" />}
      {data !== undefined && (
        <>
          {data.isOn ? <Channels channels={data.channels} /> : <SwitchedOff />}
          <List alerts={data.data} />
        </>
      )}
    </>
  )
}

function SwitchedOff() {
  return (
    <Empty title="Alerts are off">
      <p>Add a channel to the configuration, and start again:</p>
      <pre class="scroll">{EXAMPLE}</pre>
    </Empty>
  )
}

function Channels({ channels }: Pick<Alerts, 'channels'>) {
  if (channels.length === 0) return <p class="muted">No channel is configured: alerts are listed here alone.</p>
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Channels">
      <table class="text-table">
        <thead>
          <tr>
            <th scope="col">Channel</th>
            <th scope="col">Kind</th>
            <th scope="col">Gets</th>
            <th scope="col">Test</th>
          </tr>
        </thead>
        <tbody>
          {channels.map((channel) => (
            <ChannelRow key={channel.name} {...channel} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ChannelRow({ name, kind, kinds }: Channel) {
  const [state, setState] = useState<{ isBusy: boolean; words: string; isFailed?: boolean }>({
    isBusy: false,
    words: '',
  })
  const test = async () => {
    setState({ isBusy: true, words: 'Sending…' })
    try {
      await call('/dashboard/api/alerts/test', { method: 'POST', body: { channel: name } })
      setState({ isBusy: false, words: 'Sent.' })
    } catch (error) {
      setState({ isBusy: false, words: error instanceof Error ? error.message : String(error), isFailed: true })
    }
  }
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td>{kind}</td>
      <td>{kinds.join(', ')}</td>
      <td>
        <button
          type="button"
          class="small"
          disabled={state.isBusy}
          onClick={test}
          aria-label={`Send a test to ${name}`}
        >
          Send a test
        </button>{' '}
        <span role="status" class={state.isFailed ? 'verdict failed' : 'muted'}>
          {state.words}
        </span>
      </td>
    </tr>
  )
}

function List({ alerts }: { alerts: readonly ListedAlert[] }) {
  if (alerts.length === 0) return <Empty title="No alerts yet" />
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Latest alerts">
      <table class="text-table">
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Severity</th>
            <th scope="col">Alert</th>
            <th scope="col">Deliveries</th>
          </tr>
        </thead>
        <tbody>
          {alerts.map(({ id, atMs, severity, title, deliveries }) => (
            <tr key={id}>
              <td>{moment(atMs)}</td>
              <td>
                <span class={`badge ${BADGES[severity]}`}>{severity}</span>
              </td>
              <td class="prose">{title}</td>
              <td>
                {deliveries.length === 0 && <span class="muted">no channel</span>}
                {deliveries.map((delivery) => (
                  <Delivery key={delivery.channel} {...delivery} />
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Delivery({ channel, state, tries, error }: ListedDelivery) {
  return (
    <div>
      <code>{channel}</code> {STATES[state]}
      {error !== null && (
        <span class="muted">
          {' '}
          after {tries} {tries === 1 ? 'try' : 'tries'}: {error}
        </span>
      )}
    </div>
  )
}
