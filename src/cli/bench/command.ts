import { cpus } from 'node:os'
import { type Command, InvalidArgumentError } from 'commander'
import { abortable } from '../../core/abortable.ts'
import { CommandError } from '../exit-codes.ts'
import { addHelp } from '../help.ts'
import { createPaint } from '../terminal/paint.ts'
import { alignRight } from '../terminal/table.ts'
import type { Load, Measured, Percentiles } from './measure.ts'
import { type BenchServers, startServers } from './servers.ts'

const MOST_REQUESTS = 1_000_000
const MOST_LANES = 1000
const MOST_BYTES = 16 * 1024 * 1024

interface BenchOptions {
  readonly pipeline?: string
  readonly requests: number
  readonly concurrency: number
  readonly bytes: number
  readonly stream?: boolean
  readonly same?: boolean
  readonly json?: boolean
}

/** `turnpike bench`: what the gateway adds on this machine, with this configuration. */
export function addBenchCommand(program: Command): void {
  const command = program
    .command('bench')
    .description('Measure what the gateway adds to a request on this machine. Asks no provider; costs nothing.')
    .option('-p, --pipeline <pipeline>', 'through this pipeline (default: the configured one)')
    .option('-r, --requests <count>', 'how many are counted', wholeNumber(MOST_REQUESTS), 2000)
    .option('-c, --concurrency <count>', 'how many at a time', wholeNumber(MOST_LANES), 8)
    .option('-b, --bytes <count>', 'how large each is', wholeNumber(MOST_BYTES), 1024)
    .option('--stream', 'ask for streams')
    .option('--same', 'send the same request each time: caches answer; without it no two are the same')
    .option('--json', 'print JSON; times in milliseconds')
  addHelp(command, {
    examples: [
      'turnpike bench',
      'turnpike bench --pipeline none --concurrency 1',
      'turnpike bench --pipeline "exact-cache,compress,cost-guard" --bytes 30000 --stream',
      'turnpike bench --same --json',
    ],
    exits: { 1: 'the gateway did not start, or a request failed' },
    notes: [
      'Starts a stand-in for a provider that answers at once, and a gateway before it with your pipeline, plugins, prices, receipts and telemetry, an empty data folder and none of your providers, databases or accounts. It can reach no other machine. The same requests go to the stand-in directly: the difference is the gateway. All of it shares this machine: with nothing else running the figures are better, and CPU per request is the steadiest of them.',
    ],
  }).action(bench)
}

function wholeNumber(most: number): (text: string) => number {
  return (text) => {
    const count = Number(text)
    if (Number.isInteger(count) && count >= 1 && count <= most) return count
    throw new InvalidArgumentError(`expected a whole number from 1 to ${most}`)
  }
}

async function bench(options: BenchOptions): Promise<void> {
  const { pipeline, requests, concurrency, bytes, stream = false, same = false, json = false } = options
  const load = { requests, concurrency, bytes, isStream: stream, isSame: same }
  const signal = interruption()
  try {
    await using servers = await startServers(pipeline, signal)
    const result = await abortable(compare(servers, load), { signal })
    process.stdout.write(json ? `${JSON.stringify(result, undefined, 2)}\n` : render(result))
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

async function compare({ upstreamUrl, gatewayUrl }: BenchServers, load: Load): Promise<Result> {
  // With its client for HTTP, which no other command needs.
  const { cpuSecondsOf, measure } = await import('./measure.ts')
  return {
    pipeline: await pipelineOf(gatewayUrl),
    load,
    direct: await measure(upstreamUrl, load),
    gateway: await measure(gatewayUrl, load, () => cpuSecondsOf(gatewayUrl)),
  }
}

/** Ctrl-C must not leave servers and folders behind. */
function interruption(): AbortSignal {
  const stopping = new AbortController()
  const stop = () => stopping.abort(new CommandError(1, 'Stopped before the end: nothing was measured.'))
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop)
  return stopping.signal
}

/** What really runs, rails and all. */
async function pipelineOf(gatewayUrl: string): Promise<string> {
  const body = JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const headers = { authorization: 'Bearer bench', 'content-type': 'application/json' }
  const reply = await fetch(`${gatewayUrl}/v1/messages`, { method: 'POST', headers, body })
  await reply.text()
  return reply.headers.get('x-svc-pipe') ?? ''
}

interface Result {
  readonly pipeline: string
  readonly load: Load
  readonly direct: Measured
  readonly gateway: Measured
}

function render({ pipeline, load, direct, gateway }: Result): string {
  const paint = createPaint(process.stdout)
  const [head = '', ...rows] = alignRight([
    ['', 'direct', 'gateway', 'added'],
    ...(load.isStream ? timeRows('first byte', direct.firstByteMs, gateway.firstByteMs) : []),
    ...timeRows(load.isStream ? 'whole' : 'reply', direct.totalMs, gateway.totalMs),
    ['requests/s', rate(direct.requestsPerSecond), rate(gateway.requestsPerSecond), ''],
    ['CPU per request', '', `${Math.round(gateway.cpuMicrosecondsPerRequest ?? 0)} µs`, ''],
  ])
  const kind = `${load.isSame ? 'the same request' : 'different requests'} of ${load.bytes} bytes${load.isStream ? ', as streams' : ''}`
  return [
    `pipeline  ${pipeline || 'none'}`,
    `load      ${load.requests} × ${kind}, ${load.concurrency} at a time`,
    `machine   ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, shared by all of this`,
    '',
    paint('dim', head),
    ...rows,
    '',
  ].join('\n')
}

function timeRows(name: string, direct: Percentiles, gateway: Percentiles): string[][] {
  return (['p50', 'p95', 'p99'] as const).map((share) => [
    `${name}, ${share}`,
    ms(direct[share]),
    ms(gateway[share]),
    `+${ms(gateway[share] - direct[share])}`.replace('+-', '-'),
  ])
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`
}

function rate(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
