// `npm run eval:loops -- [--data <folder>] [--sessions 100] [--json <file>]`: measures the plugin `loop-guard` on generated
// loops and look-alikes, a hundred of each in each of two parts, and on the recorded sessions of a folder. Prints tables; exits
// with 1 when a bar is missed. Needs no network and no model.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type LoopFigures, measureLoops, measureOrdinary, type OrdinaryFigures, PARTS } from './measure.ts'
import { measureRecorded, type RecordedFigures } from './recorded.ts'

/** Least share of loops that are found by their third repetition. */
const LEAST_FOUND = 0.95
const DATA = path.resolve(import.meta.dirname, '../..', process.env.TURNPIKE_DATA ?? '../shared/data')

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: DATA },
    sessions: { type: 'string', default: '100' },
    json: { type: 'string', default: 'eval/loops/results.json' },
  },
})
const count = Number(values.sessions)
const parts = PARTS.map((part) => ({
  part: part.name,
  loops: measureLoops(part, count),
  ordinary: measureOrdinary(part, count),
}))
for (const { part, loops, ordinary } of parts) {
  printLoops(part, loops)
  printOrdinary(part, ordinary)
}
const recorded = measureRecorded(values.data)
if (recorded === undefined) console.log(`no recorded sessions in ${values.data}: only generated ones were measured`)
else printRecorded(recorded)
writeFileSync(values.json, `${JSON.stringify({ count, parts, recorded }, undefined, 2)}\n`)
const isMet =
  parts.every(
    ({ loops, ordinary }) => sum(loops, 'byThirdRepetition') >= LEAST_FOUND * count && alarmsOf(ordinary).length === 0,
  ) && (recorded?.alarms.length ?? 0) === 0
if (!isMet) {
  console.log('MISSED: expected 95 % found, and no false alarm')
  process.exitCode = 1
}

function printLoops(part: string, loops: readonly LoopFigures[]): void {
  console.log(`loops, ${part}`.padEnd(44), 'sessions', 'at 3rd', 'by 3rd repetition', 'before')
  for (const { kind, sessions, atThird, byThirdRepetition, early } of loops)
    console.log(kind.padEnd(44), cell(sessions, 8), cell(atThird, 6), cell(byThirdRepetition, 17), cell(early, 6))
  const names = ['sessions', 'atThird', 'byThirdRepetition', 'early'] as const
  const [sessions = 0, atThird = 0, byThird = 0, early = 0] = names.map((name) => sum(loops, name))
  console.log('all'.padEnd(44), cell(sessions, 8), cell(atThird, 6), cell(byThird, 17), cell(early, 6), '\n')
}

function printOrdinary(part: string, ordinary: readonly OrdinaryFigures[]): void {
  console.log(`ordinary work, ${part}`.padEnd(44), 'sessions', ' turns', 'false alarms')
  for (const { kind, sessions, turns, alarms } of ordinary)
    console.log(kind.padEnd(44), cell(sessions, 8), cell(turns, 6), cell(alarms.length, 12))
  const turns = ordinary.reduce((total, figures) => total + figures.turns, 0)
  console.log('all'.padEnd(44), cell(count, 8), cell(turns, 6), cell(alarmsOf(ordinary).length, 12), '\n')
  for (const alarm of alarmsOf(ordinary)) console.log(`  ${alarm}`)
}

function printRecorded({ sessions, turns, alarms, found, missed }: RecordedFigures): void {
  console.log(`recorded ordinary sessions: ${sessions}, turns: ${turns}, false alarms: ${alarms.length}`)
  for (const alarm of alarms) console.log(`  ${alarm}`)
  console.log(`recorded sessions that repeat themselves: ${found.length} of ${found.length + missed.length} found`)
  for (const session of found) console.log(`  ${session}`)
}

function sum(loops: readonly LoopFigures[], name: 'sessions' | 'atThird' | 'byThirdRepetition' | 'early'): number {
  return loops.reduce((total, figures) => total + figures[name], 0)
}

function alarmsOf(ordinary: readonly OrdinaryFigures[]): string[] {
  return ordinary.flatMap(({ alarms }) => alarms)
}

function cell(value: number, width: number): string {
  return String(value).padStart(width)
}
