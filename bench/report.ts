import { availableParallelism, cpus, totalmem } from 'node:os'
import { type Bar, judge } from './bars.ts'
import type { Case } from './cases.ts'
import { freshPageMicroseconds } from './fresh-page.ts'
import type { Effort } from './options.ts'
import type { Summary } from './summary.ts'
import { direct, type Target } from './targets.ts'
import { chatReplies, DELTA_COUNT, messagesReplies } from './upstream-replies.ts'

export interface ReportOptions {
  summary: Summary
  targets: readonly Target[]
  cases: readonly Case[]
  effort: Effort
  /** Table of what each part adds, when it was measured. */
  parts: string | undefined
  notes: readonly string[]
  date: Date
}

/** Renders the benchmark's results as a Markdown page: machine, tables, verdicts, deviations. */
export function renderReport(options: ReportOptions): string {
  const { summary, notes, parts } = options
  const sections = [
    `# Benchmark results\n\n${renderConditions(options)}`,
    `## CPU\n\nMicroseconds per request of the gateway's processes, user and system, all threads, at saturation: the cheapest round, since other work on the machine only adds; in brackets (median–largest); × the cheapest of the bare relay that took turns with it. At most four gateways run at a time.\n\n${renderCpu(options)}`,
    `## Added latency\n\nMilliseconds over the direct line in the same round, at the rate in the table's head; for the direct line the time itself.\n\n${renderLatency(options)}`,
    ...(parts === undefined ? [] : [`## What each part adds\n\n${parts}`]),
    `## Memory\n\n${renderMemory(options)}`,
    `## Bars\n\nRatios of CPU microseconds unless otherwise noted.\n\n${renderBars(judge(summary))}`,
  ]
  if (notes.length > 0) sections.push(`## Notes\n\n${notes.map(noteItem).join('\n')}`)
  return `${sections.join('\n\n')}\n`
}

/** Prints a note as an item; the label of a part begins with a plus, which would begin a list in it. */
function noteItem(note: string): string {
  return `- ${note.replace(/\s+/g, ' ').replace(/^\+ /, 'with ')}`
}

/** Renders the table of what each part adds: every row has all parts of the rows above it. */
export function renderParts({ summary, targets, cases }: Pick<ReportOptions, 'summary' | 'targets' | 'cases'>): string {
  const heads = cases.flatMap(({ label }) => [`${label}: all threads`, 'added', '× bare', 'event loop', 'added'])
  const rows = targets.map((target, index) => {
    const before = targets[index - 1]
    const cells = cases.flatMap(({ name }) => {
      const read = (field: 'cpuMicroseconds' | 'loopMicroseconds') => {
        const value = summary.figure(target.name, name, field)
        const last = before && summary.figure(before.name, name, field)
        return [value, value === undefined || last === undefined ? undefined : value - last].map(toMicroseconds)
      }
      const factor = summary.ratio(target.name, 'bare', name)?.toFixed(2) ?? '–'
      return [...read('cpuMicroseconds'), factor, ...read('loopMicroseconds')]
    })
    return [target.label, ...cells]
  })
  return `Microseconds of CPU per request.\n\n${table([['', ...heads], ...rows])}`
}

/** Renders a Markdown table from its rows, the first being the head; columns are padded, as Biome requires. */
function table(rows: readonly string[][]): string {
  const [head = [], ...body] = rows
  const widths = head.map((_, column) => Math.max(3, ...rows.map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [head, widths.map((width) => '-'.repeat(width)), ...body].map(line).join('\n')
}

function renderConditions({ date, effort }: ReportOptions): string {
  const cores = `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const command = ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' ')
  const { rounds, requests, seconds, warmUpRequests, pacedRequests } = effort
  return [
    `- Machine: ${cores}, ${memory}, ${process.platform} ${process.arch}; Node ${process.version} for every process`,
    `- The first write to a page of new memory costs ${freshPageMicroseconds().toFixed(1)} µs of CPU; to keep a request of 1 KB, with its reply and receipt, takes one to two pages`,
    `- Date: ${date.toISOString().slice(0, 16)}Z`,
    `- Command: \`${command}\``,
    `- Effort: after at least ${warmUpRequests} requests of the kind, and until the CPU of one stood still, ${rounds} interleaved round${rounds === 1 ? '' : 's'}, each with at least ${requests} requests and ${seconds} seconds at saturation, after others that wake the gateway until their CPU no longer falls, and ${pacedRequests} at the modest rate`,
    `- Streams: ${DELTA_COUNT} pieces of text in ${messagesReplies.streamWrites.length} writes; finer or coarser cuts change the SSE ratios`,
    `- The upstream's replies in Messages and in chat: the same text in as many pieces; JSON ${sizes('json')}, SSE ${sizes('sse')}`,
    '- Upstream and load generator are processes of their own on the same machine, over loopback.',
    ...(isFull(effort)
      ? []
      : ['- **A first look**: too few requests for figures to compare; a full run has four rounds of three seconds.']),
  ].join('\n')
}

/** True if figures are from as many requests as a comparison needs. */
function isFull({ rounds, requests, seconds, warmUpRequests }: Effort): boolean {
  return rounds >= 4 && rounds * requests >= 5000 && seconds >= 3 && warmUpRequests >= 10_000
}

/** Returns the sizes of the replies of the two dialects, whose framing differs. */
function sizes(kind: 'json' | 'sse'): string {
  const bytes = [messagesReplies, chatReplies].map(({ json, streamWrites }) =>
    kind === 'json' ? json.length : Buffer.concat(streamWrites).length,
  )
  return `${bytes.join(' and ')} bytes`
}

function renderCpu({ summary, targets, cases }: ReportOptions): string {
  const cell = (target: Target, { name }: Case) => {
    const value = summary.figure(target.name, name, 'cpuMicroseconds')
    const [middle, most] = summary.spread(target.name, name, 'cpuMicroseconds') ?? []
    if (value === undefined || middle === undefined || most === undefined) return '–'
    const factor = summary.ratio(target.name, 'bare', name)
    const suffix = factor === undefined || target.name === 'bare' ? '' : `, ${factor.toFixed(2)} ×`
    return `**${value.toFixed(0)}** (${middle.toFixed(0)}–${most.toFixed(0)})${suffix}`
  }
  const head = ['gateway', ...cases.map(({ label }) => label)]
  return table([head, ...targets.map((target) => [target.label, ...cases.map((one) => cell(target, one))])])
}

function renderLatency({ summary, targets, cases }: ReportOptions): string {
  const { figure, added } = summary
  const read = (target: Target) => (target === direct ? figure : added)
  const cell = (target: Target, { name }: Case) =>
    `${toMs(read(target)(target.name, name, 'p50Ms'))} / ${toMs(read(target)(target.name, name, 'p99Ms'))}`
  const firstByte = (target: Target) => toMs(read(target)(target.name, 'sse', 'firstByteMs'))
  const heads = cases.map(({ label, requestsPerSecond }) => `${label}, ${requestsPerSecond}/s: p50 / p99`)
  const rows = [direct, ...targets].map((target) => [
    target.label,
    ...cases.map((one) => cell(target, one)),
    firstByte(target),
  ])
  return table([['gateway', ...heads, 'SSE: first byte, p50'], ...rows])
}

function renderMemory({ summary, targets }: ReportOptions): string {
  const rows = targets.flatMap(({ name, label }) => {
    const memory = summary.memory.get(name)
    if (!memory) return []
    const { startBytes, endBytes, peakBytes, idleStreamBytes } = memory
    const stream = idleStreamBytes === undefined ? '–' : `${(idleStreamBytes / 1024).toFixed(1)} KB`
    return [[label, toMegabytes(startBytes), toMegabytes(endBytes), toMegabytes(peakBytes), stream]]
  })
  return table([['gateway', 'RSS at start', 'RSS after all rounds', 'largest RSS', 'per idle open stream'], ...rows])
}

function renderBars(bars: readonly Bar[]): string {
  const verdict = ({ measured, isMet, isStretch }: Bar) => {
    if (measured === undefined) return 'not measured'
    if (isMet) return 'met'
    return isStretch ? 'stretch, not met' : '**NOT MET**'
  }
  const rows = bars.map((bar) => [
    bar.isStretch ? `${bar.text} (stretch)` : bar.text,
    bar.measured?.toFixed(2) ?? '–',
    verdict(bar),
  ])
  return table([['bar', 'measured', 'verdict'], ...rows])
}

const toMicroseconds = (value: number | undefined): string => value?.toFixed(0) ?? '–'

const toMs = (value: number | undefined): string => value?.toFixed(2) ?? '–'

const toMegabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`
