import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { commandsOf, type Example, examplesOf } from './documents.ts'
import { eventually } from './eventually.ts'
import type { Gateway } from './gateway.ts'
import { startGatewayProcess } from './gateway-process.ts'

/*
 * DESIGN. Follows a page's instructions, block by block, in an empty folder:
 *
 *   a first line that is a remark with a path  ─▶ the block is written to that file
 *   `sh` that ends in `npm start`              ─▶ a gateway is started with the variables in front; the next replaces it
 *   `sh`                                       ─▶ its commands are run; all must succeed
 *   `text` after `sh`                          ─▶ each of its lines must be in the output; `…` matches anything
 *
 * Limits: requests that only read may be repeated until the reply is the expected one, since a changed plugin is loaded
 * a moment after it was saved; nothing else is repeated.
 */

/** Options of a walk besides the page. */
interface WalkOptions {
  /** A gateway that runs from the beginning. Default: the page starts its own. */
  readonly url?: string
  /** Selects the page's examples. Default: all. */
  readonly includes?: (example: Example) => boolean
  /** Variables of every command. */
  readonly env?: Readonly<Record<string, string>>
  /** The folder in which programs of the page find packages. Default: the project's, as in a checkout. */
  readonly packages?: string
}

/** Result of a walk. */
interface Walk {
  /** Number of blocks by the way they were executed. */
  readonly done: Readonly<Record<'written' | 'started' | 'run' | 'compared', number>>
  /** Returns the logs of the gateways that the page has started. */
  log(): string
}

const ROOT = path.resolve(import.meta.dirname, '../..')
const USUAL_ADDRESS = /http:\/\/127\.0\.0\.1:3099/g
const FILE = /^(?:\/\/|#) ([\w./-]+\.\w+)\n/
const START = /^((?:[A-Z_]+=\S+ )*)npm start$/
const LONGEST_RELOAD_MS = 10_000
const LONGEST_RUN_MS = 50_000
const run = promisify(execFile)

/** Walks through a page; the folder and the gateway are removed with the test. */
export async function walkThrough(t: ExecutionContext, page: string, options: WalkOptions = {}): Promise<Walk> {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-walk-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(options.packages ?? path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const env = { ...options.env, HOME: folder, PATH: `${commandsIn(folder)}:${process.env.PATH}` }
  const done = { written: 0, started: 0, run: 0, compared: 0 }
  const gateways: Gateway[] = []
  t.teardown(() => gateways.at(-1)?.stop())
  const inPlace = (code: string) => code.replaceAll(USUAL_ADDRESS, gateways.at(-1)?.url ?? options.url ?? '')
  const shell = async (code: string) => {
    // Commands of the gateway ask the one that is configured.
    const { port } = gateways.at(-1) ?? {}
    const own = port === undefined ? env : { ...env, PORT: String(port) }
    return (await run('sh', ['-ec', code], { cwd: folder, env: own, timeout: LONGEST_RUN_MS })).stdout
  }
  let last = { code: '', output: '' }
  for (const example of examplesOf(page).filter(options.includes ?? (() => true))) {
    const { place, language, code } = example
    const file = FILE.exec(code)?.[1]
    const variables = START.exec(commandsOf(example).at(-1) ?? '')?.[1]
    if (file !== undefined) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
      writeFileSync(path.join(folder, file), inPlace(code))
      done.written++
    } else if (language === 'sh' && variables !== undefined) {
      await gateways.at(-1)?.stop()
      gateways.push(await startGatewayProcess({ ...options.env, ...toVariables(variables) }, { cwd: folder }))
      done.started++
    } else if (language === 'sh') {
      last = { code: inPlace(code), output: '' }
      last.output = await shell(last.code).catch(
        (error) => t.fail(`${place}: ${error.message}\n${error.stdout}`) as never,
      )
      done.run++
    } else if (language === 'text') {
      const { code: command } = last
      const repeat = async () => {
        if (!isIn(last.output, example)) last.output = await shell(command)
        return isIn(last.output, example)
      }
      // On failure the assertion below shows the last output.
      if (command.startsWith('curl ')) await eventually(repeat, place, LONGEST_RELOAD_MS).catch(() => {})
      t.true(isIn(last.output, example), `${place}: got ${last.output}`)
      done.compared++
    }
  }
  return { done, log: () => gateways.map((gateway) => gateway.log()).join('') }
}

function isIn(output: string, { code }: Example): boolean {
  const lines = code.trimEnd().split('\n')
  return lines.every((line) => new RegExp(line.trim().split('…').map(escaped).join('.*')).test(output))
}

function escaped(text: string): string {
  return text.replaceAll(/[^\w\s]/g, '\\$&')
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

/** Creates a folder with the commands that a reader has: `turnpike`, and the Node of the project. */
function commandsIn(folder: string): string {
  const bin = path.join(folder, '.bin')
  mkdirSync(bin)
  const turnpike = path.join(bin, 'turnpike')
  writeFileSync(turnpike, `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/bin/turnpike.mjs" "$@"\n`)
  chmodSync(turnpike, 0o755)
  symlinkSync(process.execPath, path.join(bin, 'node'))
  return bin
}
