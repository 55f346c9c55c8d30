import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A temporary directory for plugin folders and other files; removed with the test. */
export interface PluginDirectory {
  path: string
  /** Writes a file, its folders included, e.g. `put('shout/index.ts', …)`. Returns its path. */
  put(file: string, text: string): string
  /** Removes a file or folder. */
  remove(file: string): void
}

/** Owner that removes the directory at its end: a test's `t`, or `{ teardown: test.after.always }` for a whole file. */
interface Owner {
  teardown(remove: () => void): void
}

/** Creates a directory with these files. */
export function createPluginDirectory(owner: Owner, files: Readonly<Record<string, string>> = {}): PluginDirectory {
  const directory = mkdtempSync(path.join(tmpdir(), 'turnpike-plugins-'))
  owner.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const put = (file: string, text: string) => {
    const target = path.join(directory, file)
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, text)
    return target
  }
  for (const [file, text] of Object.entries(files)) put(file, text)
  return { path: directory, put, remove: (file) => rmSync(path.join(directory, file), { recursive: true }) }
}

/** The parts of a plugin's source that differ from test to test, as code. */
export interface PluginParts {
  /** Further imports. */
  head?: string
  /** Members of the options' schema, e.g. `word: z.string().default('hi')`. */
  options?: string
  perRequest?: readonly string[]
  needs?: readonly string[]
  onError?: 'bypass' | 'refuse'
  /** Code at the start of `setup`; sees `options` and `services`. */
  setup?: string
  /** Body of the middleware; sees `ctx`, `next`, `exchange` and its effective options `o`. Default: calls `next`. */
  run?: string
  /** Body of `close`; unset: none. */
  close?: string
}

/** Returns the source of a plugin's `index.ts`, `.js` or `.mjs`: it has no types. */
export function pluginSource(name: string, parts: PluginParts = {}): string {
  const { head = '', options = '', perRequest = [], needs = [], onError = 'bypass', setup = '', close } = parts
  return `
import { definePlugin, GatewayError, jsonReply, messageReply, z } from 'turnpike/plugin'
import { BytesReply, StreamReply } from 'turnpike/plugin/bytes'
${head}
export default definePlugin({
  name: '${name}',
  summary: 'A plugin of a test.',
  options: z.strictObject({ ${options} }),
  perRequest: ${JSON.stringify(perRequest)},
  needs: ${JSON.stringify(needs)},
  onError: '${onError}',
  async setup(options, services) {
    ${setup}
    return {
      middleware: (o) => async (ctx, next) => {
        const { exchange } = ctx.state
        ${parts.run ?? 'await next()'}
      },
      ${close === undefined ? '' : `async close() { ${close} },`}
    }
  },
})
`
}
