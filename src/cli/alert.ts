import type { Command } from 'commander'
import { createChannels } from '../alerts/channels/channels.ts'
import { tryChannel } from '../alerts/try-channel.ts'
import { loadConfig } from '../config/load.ts'
import type { ListedAlert } from '../core/ports/alerts.ts'
import { createAlertStore } from '../stores/sql/alerts/alert-store.ts'
import { addHelp } from './help.ts'
import { wholeNumber } from './whole-number.ts'
import { withStore } from './with-store.ts'

const MOST_LISTED = 1000

/** Adds `turnpike alert`: lists alerts, and tries their channels. */
export function addAlertCommand(program: Command): void {
  const alert = program.command('alert').description('List alerts, and test their channels.')
  const list = alert
    .command('list')
    .description('Show the latest alerts with their deliveries, newest first.')
    .option('--limit <count>', 'how many', wholeNumber(MOST_LISTED), 20)
    .option('--json', 'print JSON, one alert a line')
    .action(async ({ limit, json }: { limit: number; json?: boolean }) => {
      const print = json ? jsonOf : textOf
      const alerts = await withStore((store) => createAlertStore(store).list({ most: limit }))
      for (const one of alerts) process.stdout.write(`${print(one)}\n`)
    })
  const test = alert
    .command('test')
    .description('Send a test alert to a channel of the configuration, now.')
    .argument('<channel>', 'its name in `alerts.channels`')
    .option('--json', 'print JSON')
    .action(async (name: string, { json }: { json?: boolean }) => {
      const { alerts, server } = loadConfig(process.env).config
      const clock = { nowMs: () => Date.now() }
      const { id } = await tryChannel(createChannels(alerts, { clock, pages: server.public_url }), name, clock)
      const text = json ? JSON.stringify({ channel: name, id, sent: true }) : `${name} took the test alert ${id}.`
      process.stdout.write(`${text}\n`)
    })
  addHelp(list, { examples: ['turnpike alert list --limit 5'] })
  addHelp(test, {
    examples: ['turnpike alert test ops'],
    exits: { 1: 'the channel did not take it', 66: 'no such channel' },
  })
}

function jsonOf({ atMs, ...alert }: ListedAlert): string {
  return JSON.stringify({ at: new Date(atMs).toISOString(), ...alert })
}

function textOf({ atMs, severity, title, deliveries }: ListedAlert): string {
  const states = deliveries.map(
    ({ channel, state, error }) => `${channel}: ${state}${error === null ? '' : ` (${error})`}`,
  )
  const sent = states.length === 0 ? 'no channel' : states.join(', ')
  return `${new Date(atMs).toISOString()}  ${severity.padEnd(8)}  ${title}  [${sent}]`
}
