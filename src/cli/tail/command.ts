import { type Command, Option } from 'commander'
import { onAbort } from '../../core/abortable.ts'
import { addHelp } from '../help.ts'
import { addGatewayOptions, findGateway, type GatewayOptions } from '../remote/gateway.ts'
import { createPaint, type Paint } from '../terminal/paint.ts'
import { jsonLine, visible } from '../terminal/visible.ts'
import { wholeNumber } from '../whole-number.ts'
import { isShown, parseStatus, type TailFilter } from './filter.ts'
import { type FeedEvent, follow } from './follow.ts'
import { headLine, requestLine } from './row.ts'

/** Columns where the output is no terminal: a file, a pipe. */
const USUAL_COLUMNS = 120

interface TailOptions extends GatewayOptions, TailFilter {
  readonly limit?: number
  readonly json?: boolean
}

/** Adds `turnpike tail`: prints requests of a running gateway, one line each, as their replies end. */
export function addTailCommand(program: Command): void {
  const command = program
    .command('tail')
    .description('Show the requests of a running gateway as their replies end, one per line.')
    .option('--model <text>', 'only with this in the model’s name')
    .option('--status <status>', 'only with this status: 429, 4xx, ok or failed', parseStatus)
    .option('--key <id>', 'only requests of this key, by its id')
    .addOption(
      new Option('--cache <outcome>', 'only with this cache result').choices(['hit', 'attached', 'miss', 'none']),
    )
    .option('--text <text>', 'only with this in an id, a model, a provider, a pipeline or a reason')
    .option('-n, --limit <count>', 'stop after this many', wholeNumber(Number.MAX_SAFE_INTEGER))
    .option('--json', 'print JSON, one request per line')
  addHelp(addGatewayOptions(command), {
    examples: [
      'turnpike tail',
      'turnpike tail --status failed',
      'turnpike tail --model sonnet --limit 20',
      "turnpike tail --json | jq '{model: .modelServed, cost: .costNanoUsd}'",
    ],
    exits: { 0: 'stopped with Ctrl-C, or after --limit', 69: 'no gateway replies' },
    notes: [
      'hit? is hit, join (shared the reply of an in-flight request), miss, or – without a cache lookup; in/out are tokens; ~ marks estimates. On narrow terminals plugins are shown by their initials: ec for exact-cache. A gateway that goes away is waited for; notes go to standard error.',
    ],
  }).action(tail)
}

async function tail({ limit = Number.POSITIVE_INFINITY, json = false, ...options }: TailOptions): Promise<void> {
  const gateway = findGateway(options)
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  // Not `once`: a terminal and a parent may both send the signal.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  const print = json ? jsonLine : linePrinter(createPaint(process.stdout))
  const printNote = notePrinter(gateway.url)
  let shown = 0
  for await (const event of follow(gateway, stopping.signal)) {
    if (event.kind !== 'request') printNote(event)
    else if (isShown(event.request, options)) {
      // Back-pressure: the feed pauses while the reader does.
      if (!process.stdout.write(`${print(event.request)}\n`)) await drained(stopping.signal)
      if (++shown >= limit) break
    }
  }
  stop()
}

/** Returns a printer whose first line, on a terminal, has the names of the columns above it. */
function linePrinter(paint: Paint): (request: Parameters<typeof requestLine>[0]) => string {
  let isHeaded = !process.stdout.isTTY
  return (request) => {
    const columns = process.stdout.columns ?? USUAL_COLUMNS
    const line = requestLine(request, columns, paint)
    if (isHeaded) return line
    isHeaded = true
    return `${headLine(columns, paint)}\n${line}`
  }
}

function notePrinter(url: string): (event: Exclude<FeedEvent, { kind: 'request' }>) => void {
  const note = (text: string) => void process.stderr.write(`turnpike tail: ${visible(text)}\n`)
  return (event) => {
    switch (event.kind) {
      case 'open':
        return note(`following ${url}`)
      case 'lost':
        return note(`lost ${url} (${event.why}); trying again in ${event.pauseMs / 1000} s`)
      case 'dropped':
        return note(`${event.count} requests came too fast to show; the dashboard lists them`)
      default:
        event satisfies never
    }
  }
}

function drained(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  process.stdout.once('drain', resolve)
  onAbort(signal, resolve)
  return promise
}
