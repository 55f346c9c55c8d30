import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { brokenLinks, unreachablePages } from '../../scripts/docs/links.ts'
import { readExamples } from '../support/documents.ts'
import { createPluginDirectory as createDirectory } from '../support/plugin-folders.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

test('docs: every link leads somewhere, to its heading too', (t) => {
  t.deepEqual(brokenLinks(ROOT), [])
})

test('docs: the index leads to every page', (t) => {
  t.deepEqual(unreachablePages(ROOT, { folder: 'docs', start: 'docs/README.md' }), [])
})

test('docs: a link, an anchor and a page that lead nowhere are found', (t) => {
  const { path: root } = createDirectory(t, {
    'docs/README.md':
      '# Index\n\n[there](a.md#two-words-1) [gone](b.md) [nowhere](a.md#three) [own](#index) [out](https://x.test/#y)\n',
    'docs/a.md': '# A\n\n## Two words\n\n```sh\n# three\n```\n\n## Two *words*!\n',
    'docs/alone.md': '# Alone\n',
  })
  t.deepEqual(brokenLinks(root), [
    'docs/README.md names docs/b.md, which does not exist',
    'docs/README.md links to docs/a.md#three, which is no heading there',
  ])
  t.deepEqual(unreachablePages(root, { folder: 'docs', start: 'docs/README.md' }), ['docs/alone.md'])
})

const run = promisify(execFile)

/** Declares the names that fragments use without declaring them. */
const PREAMBLE = `
import type { Next } from 'koa'
import { definePlugin, type Exchange, GatewayError, type Log, messageReply, type ModelClient, type PluginContext, replaceText, z } from 'turnpike/plugin'
import { runPlugin } from 'turnpike/plugin/test'
declare const plugin: ReturnType<typeof definePlugin>
declare const exchange: Exchange
declare const log: Log
declare const models: ModelClient
declare const next: Next
declare const signal: AbortSignal
declare const key: string
declare const wordSchema: z.ZodObject<{ word: z.ZodString }>
declare function middleware(): (ctx: PluginContext, next: Next) => Promise<void>
declare function count(data: string): void
declare function withoutSecrets(json: string): string
declare function lookUp(key: string, options: { signal: AbortSignal }): Promise<unknown>
`

/** Wraps a fragment: members of a declaration in `definePlugin`, statements in a function. */
function wrapped(code: string): string {
  return /^\w+: /.test(code)
    ? `definePlugin({ name: 'x', summary: 'x', options: z.strictObject({}), perRequest: [], needs: [], onError: 'bypass',\n${code}})`
    : `async () => {\n${code}}`
}

test('docs: fragments of plugins compile with the types of `turnpike/plugin`', async (t) => {
  const fragments = readExamples('ts').filter(({ code }) => !code.includes('import '))
  t.true(fragments.length > 5, `${fragments.length} fragments`)
  const folder = mkdtempSync(path.join(ROOT, 'node_modules/.docs-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const files = fragments.map(({ place, code }) => {
    const file = `${place.replaceAll(/\W/g, '-')}.ts`
    writeFileSync(path.join(folder, file), `${PREAMBLE}\nexport const fragment = ${wrapped(code)}\n`)
    return file
  })
  const paths = { 'turnpike/*': [path.join(ROOT, 'src/*.ts')] }
  const config = { extends: path.join(ROOT, 'tsconfig.json'), compilerOptions: { paths }, include: [], files }
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc')
  await t.notThrowsAsync(
    run(process.execPath, [compiler, '-p', folder]).catch(({ stdout, stderr }) =>
      Promise.reject(new Error(`${stdout}${stderr}`)),
    ),
  )
})
