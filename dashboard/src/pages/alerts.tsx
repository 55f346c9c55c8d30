import '../parts/badges.css'
import '../parts/snippet.css'
import { useState } from 'preact/hooks'
import type { ListedAlert, ListedDelivery } from '../../../src/core/ports/alerts.ts'
import { call } from '../api.ts'
import { moment } from '../format.ts'
import { Copy } from '../parts/copy.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { Table } from '../parts/table.tsx'
import { useData } from '../use-data.ts'

interface Channel {
  readonly name: string
  readonly kind: string
  readonly kinds: readonly string[]
}

interface Alerts {
  readonly isOn: boolean
  readonly channels: readonly Channel[]
  /** Shares of a cap, in percent, at which an alert is raised. */
  readonly caps: readonly number[]
  readonly data: readonly ListedAlert[]
}

const BADGES = { info: 'fine', warning: 'warm', critical: 'failed' } as const
const STATES = { due: 'waiting', sent: 'sent', failed: 'given up' } as const
const EXAMPLE = `alerts:
  caps: [80, 100]
  channels:
    ops: { kind: slack, url: "\${SLACK_WEBHOOK}", kinds: [cap] }
    mail: { kind: email, to: [ops@example.com], kinds: [cap] }
  smtp: { url: "\${SVC_SMTP_URL}", from: turnpike@example.com }`

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
          {data.isOn ? <Channels channels={data.channels} caps={data.caps} /> : <Empty title="Alerts are off" />}
          <AddChannel isOpen={data.channels.length === 0} />
          <List alerts={data.data} />
        </>
      )}
    </>
  )
}

/** Lines of the configuration for an alert at 80 % of a cap. */
function AddChannel({ isOpen }: { isOpen: boolean }) {
  return (
    <details open={isOpen}>
      <summary>Add a channel: an alert at 80 % of a cap</summary>
      <p>
        Channels come from the configuration file alone, since their addresses are secrets. Add those that you need,
        start the gateway again, then send a test from here. <code>caps</code> are the shares of a cap, in percent.
      </p>
      <div class="snippet">
        <pre>{EXAMPLE}</pre>
        <Copy text={EXAMPLE} />
      </div>
    </details>
  )
}

function Channels({ channels, caps }: Pick<Alerts, 'channels' | 'caps'>) {
  if (channels.length === 0) return <p class="muted">No channel is configured: alerts are listed here alone.</p>
  return (
    <Table class="text-table" label="Channels" heads={['Channel', 'Kind', 'Gets', 'Test']}>
      {channels.map((channel) => (
        <ChannelRow key={channel.name} {...channel} caps={caps} />
      ))}
    </Table>
  )
}

function ChannelRow({ name, kind, kinds, caps }: Channel & Pick<Alerts, 'caps'>) {
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
      <td>{kinds.map((each) => (each === 'cap' ? `caps at ${caps.join(', ')} %` : each)).join(', ')}</td>
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
    <Table class="text-table" label="Latest alerts" heads={['At', 'Severity', 'Alert', 'Deliveries']}>
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
    </Table>
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
