import type { LossReason } from '../../../src/core/telemetry/prefix-loss.ts'
import type { LossSums } from '../../../src/core/telemetry/telemetry.ts'
import { count, usd } from '../format.ts'
import { Table } from './table.tsx'

/** Names of the reasons of a lost prompt cache. */
export const LOSS_TITLES: Readonly<Record<LossReason, string>> = {
  model: 'Another model',
  key: 'Another provider key',
  tools: 'Changed tools',
  system: 'Changed system text',
  messages: 'Changed history',
  compaction: 'Compaction',
  plugin: 'Changed by a plugin',
  beta: 'Changed betas',
  settings: 'Changed settings',
  expired: 'Expired',
  marks: 'Missing or distant marks',
  unmarked: 'Never marked',
  too_short: 'Too short to cache',
  unread: 'Not read, no change found',
  unknown: 'Turn before unknown',
}

/** Table of what was not read from the providers' prompt caches, by reason; nothing without a loss. */
export function Losses({ losses }: { losses: readonly LossSums[] }) {
  if (losses.length === 0) return null
  return (
    <section aria-labelledby="losses">
      <h2 id="losses">Lost prompt cache</h2>
      <p class="muted">Prompts that a provider had cached and did not read, at their additional cost.</p>
      <Table labelledBy="losses" heads={['Reason', 'Requests', 'Tokens', 'Lost']}>
        {losses.map(({ reason, requests, tokens, nanoUsd }) => (
          <tr key={reason}>
            <th scope="row">{LOSS_TITLES[reason]}</th>
            <td>{count(requests)}</td>
            <td>{count(tokens)}</td>
            <td>{usd(nanoUsd)}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
