import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/*
 * DESIGN. Loaded into a gateway before anything else (`--import`): its wall clock follows a file that the test
 * writes, `<milliseconds that it is off> <its speed>`. Once it does, `<file>.<process id>` has the same text. Monotonic clocks
 * (`performance.now`) are unchanged.
 */

const FILE = process.env.TURNPIKE_CLOCK
const LOOK_EVERY_MS = 20
const RealDate = Date
let text = ''
let told = { sinceMs: 0, shownMs: 0, speed: 1 }

function look(): void {
  const now = FILE === undefined ? '' : readFileSync(FILE, 'utf8')
  if (now === text) return
  text = now
  const [offMs = 0, speed = 1] = now.split(' ').map(Number)
  const sinceMs = RealDate.now()
  told = { sinceMs, shownMs: sinceMs + offMs, speed }
  if (isMainThread) writeFileSync(`${FILE}.${process.pid}`, text)
}

function nowMs(): number {
  if (text === '') return RealDate.now()
  return Math.floor(told.shownMs + (RealDate.now() - told.sinceMs) * told.speed)
}

globalThis.Date = new Proxy(RealDate, {
  construct: (_, given: []) => (given.length === 0 ? new RealDate(nowMs()) : new RealDate(...given)),
  apply: () => new RealDate(nowMs()).toString(),
  get: (target, name) => (name === 'now' ? nowMs : Reflect.get(target, name)),
})
setInterval(look, LOOK_EVERY_MS).unref()
