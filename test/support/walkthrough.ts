import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { commandsOf, type Example, examplesOf } from './documents.ts'
import { eventually } from './eventually.ts'
import { type Gateway, startGateway } from './gateway.ts'

/*
 * DESIGN. Does what a page tells its reader to do, block by block, in an empty folder:
 *
 *   a first line that is a remark with a path  ─▶ the block is written to that file
 *   `sh` that ends in `npm start`              ─▶ a gateway is started with the variables in front; the next replaces it
 *   `sh`                                       ─▶ its commands are run; all must succeed
 *   `text` and `json` after `sh`               ─▶ each of its lines must stand in what was said; `…` stands for anything
 *
 * Limits: requests that only read may be sent again until the answer is the expected one, since a changed plugin is loaded
 * a moment after it was saved; nothing else is repeated.
 */

/** What a walk is given besides the page. */
interface WalkOptions {
  /** A gateway that is there from the beginning. Default: the page starts its own. */
  readonly url?: string
  /** Variables of every command. */
  readonly env?: Readonly<Record<string, string>>
}

/** What a walk has left. */
interface Walk {
  /** How many blocks were done, by what was done with them. */
  readonly done: Readonly<Record<'written' | 'started' | 'run' | 'compared', number>>
  /** What the gateway that the page has started last has logged. */
  log(): string
}

const ROOT = path.resolve(import.meta.dirname, '../..')
const USUAL_ADDRESS = /http:\/\/127\.0\.0\.1:3099/g
const FILE = /^(?:\/\/|#) ([\w./-]+\.\w+)\n/
const START = /^((?:[A-Z_]+=\S+ )*)npm start$/
const LONGEST_RUN_MS = 50_000
const run = promisify(execFile)

/** Walks through a page; the folder and the gateway are gone with the test. */
export async function walkThrough(t: ExecutionContext, page: string, options: WalkOptions = {}): Promise<Walk> {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-walk-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // As in a checkout, programs find the project's packages.
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const env = { ...options.env, HOME: folder, PATH: `${commandsIn(folder)}:${process.env.PATH}` }
  const done = { written: 0, started: 0, run: 0, compared: 0 }
  let gateway: Gateway | undefined
  t.teardown(() => gateway?.stop())
  const inPlace = (code: string) => code.replaceAll(USUAL_ADDRESS, gateway?.url ?? options.url ?? '')
  const shell = async (code: string) =>
    (await run('sh', ['-ec', code], { cwd: folder, env, timeout: LONGEST_RUN_MS })).stdout
  let last = { code: '', said: '' }
  for (const example of examplesOf(page)) {
    const { place, language, code } = example
    const file = FILE.exec(code)?.[1]
    const variables = START.exec(commandsOf(example).at(-1) ?? '')?.[1]
    if (file !== undefined) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
      writeFileSync(path.join(folder, file), inPlace(code))
      done.written++
    } else if (language === 'sh' && variables !== undefined) {
      await gateway?.stop()
      gateway = await startGateway({ ...options.env, ...toVariables(variables) }, { cwd: folder })
      done.started++
    } else if (language === 'sh') {
      last = { code: inPlace(code), said: '' }
      last.said = await shell(last.code).catch(
        (error) => t.fail(`${place}: ${error.message}\n${error.stdout}`) as never,
      )
      done.run++
    } else if (language === 'text' || language === 'json') {
      if (/^curl /.test(last.code)) {
        await eventually(
          async () => says(last.said, example) || says((last.said = await shell(last.code)), example),
          `${place}: ${code}`,
          10_000,
        ).catch((error) => t.fail(`${error.message}\ngot ${last.said}`))
      }
      t.true(says(last.said, example), `${place}: got ${last.said}`)
      done.compared++
    }
  }
  return { done, log: () => gateway?.log() ?? '' }
}

function says(said: string, { code }: Example): boolean {
  const lines = code.trimEnd().split('\n')
  return lines.every((line) => new RegExp(line.trim().split('…').map(RegExp.escape).join('.*')).test(said))
}

function toVariables(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trim()
      .split(' ')
      .filter(Boolean)
      .map((word) => word.split('=', 2)),
  )
}

/** A folder with the commands that a reader has: `npx turnpike`, and the Node of the project. */
function commandsIn(folder: string): string {
  const bin = path.join(folder, '.bin')
  mkdirSync(bin)
  const npx = path.join(bin, 'npx')
  writeFileSync(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${ROOT}/bin/turnpike.mjs" "$@"\n`)
  chmodSync(npx, 0o755)
  symlinkSync(process.execPath, path.join(bin, 'node'))
  return bin
}
