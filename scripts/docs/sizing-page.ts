import { readFileSync } from 'node:fs'
import { type Costs, costsSchema } from '../../src/sizing/costs.ts'
import { fieldsOf } from '../../src/sizing/fields.ts'
import { code, GENERATED, table } from './markdown.ts'

const COSTS = new URL('../../config/cost-model.json', import.meta.url)

/** What the pipelines of the model are called in the page. */
const PIPELINES: Readonly<Record<keyof Costs['pipelines'], string>> = {
  none: 'no module',
  default: 'default pipeline',
  capped: 'default pipeline, caps on',
  hit: 'hit of `exact-cache`',
}

/** The reference page of `turnpike size`: what describes traffic, and the costs that were measured. */
export function sizingPage(): string {
  const costs = costsSchema.parse(JSON.parse(readFileSync(COSTS, 'utf8')))
  return `${[
    GENERATED,
    '# Sizing',
    'What `turnpike size` is told, and what it reckons with. How to use it: [scaling](../scaling.md).',
    '## Fields of the traffic',
    fields(),
    '## Measured costs',
    `By \`${costs.measured.command}\` on ${costs.measured.at}; ${costs.measured.machine}. Cloud mode, with receipts, telemetry, metrics, PostgreSQL and Redis. Microseconds of CPU, user and system: of the event loop, and of all other threads.`,
    cpu(costs),
    stores(costs),
    rest(costs),
  ].join('\n\n')}\n`
}

function fields(): string {
  const rows = fieldsOf().map(({ name, default: usual, description }) => [
    code(name),
    usual === null ? 'needed' : code(String(usual)),
    description,
  ])
  return table(['field', 'default', 'what it says'], rows)
}

function cpu({ pipelines }: Costs): string {
  const names = Object.keys(pipelines) as (keyof Costs['pipelines'])[] // safe: its own keys
  const sizes = pipelines.none.gateway.map(({ kilobytes }) => kilobytes)
  const rows = names.map((name) => [
    PIPELINES[name],
    ...pipelines[name].gateway.map(({ loop, other }) => `${loop.toFixed(0)} + ${other.toFixed(0)}`),
  ])
  return table(['gateway, µs a request', ...sizes.map((size) => `${size} KB: loop + other`)], rows)
}

function stores({ pipelines }: Costs): string {
  const names = Object.keys(pipelines) as (keyof Costs['pipelines'])[] // safe: its own keys
  const rows = names.map((name) => {
    const { postgres, redis } = pipelines[name]
    return [
      PIPELINES[name],
      postgres.transactions.toFixed(2),
      postgres.microseconds.toFixed(0),
      redis.commands.toFixed(2),
      redis.microseconds.toFixed(0),
    ]
  })
  return table(['a request', 'PostgreSQL: transactions', 'µs', 'Redis: commands', 'µs'], rows)
}

function rest({ streamEvent, memory, stored }: Costs): string {
  return table(
    ['what', 'how much'],
    [
      ['an event of a stream, in a packet of its own', `${streamEvent.loop} + ${streamEvent.other} µs`],
      ['memory of a process', `${memory.processMegabytes} MB`],
      ['memory of an open stream, its request and reply not counted', `${memory.openStreamKilobytes} KB`],
      ['a receipt in PostgreSQL', `${stored.receiptBytes} bytes`],
      ['a row and a trace of telemetry in PostgreSQL', `${stored.telemetryBytes} bytes`],
      ['a stored reply in Redis, beyond its own bytes', `${stored.replyOverheadBytes} bytes`],
    ],
  )
}
