import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import type { Command } from 'commander'
import { parse, parseAllDocuments } from 'yaml'
import { createProgram } from '../../src/cli/main.ts'
import { configSchema } from '../../src/config/schema.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { commandsOf, type Example, isAlone, isSketch, readExamples } from '../support/documents.ts'
import { startGateway } from '../support/gateway.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { startGemini } from '../support/stand-in-gemini.ts'
import { startOpenAI } from '../support/stand-in-openai.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const USUAL_ADDRESS = /(http:\/\/)?(127\.0\.0\.1|localhost):3099/g
const run = promisify(execFile)

/** Asserts that no example has a fault; lists those that have, each with its place. */
function assertAll(
  t: ExecutionContext,
  examples: readonly Example[],
  faultOf: (example: Example) => string | undefined,
) {
  t.true(examples.length > 0)
  t.deepEqual(
    examples.flatMap((example) => {
      const fault = faultOf(example)
      return fault === undefined ? [] : [`${example.place}: ${fault}`]
    }),
    [],
  )
}

test('docs: no example is of a kind that nothing here tries', (t) => {
  assertAll(t, readExamples(), ({ language }) =>
    ['js', 'json', 'sh', 'text', 'ts', 'yaml'].includes(language) ? undefined : language,
  )
})

test('docs: JSON is JSON', (t) => {
  assertAll(t, readExamples('json'), ({ code }) => {
    try {
      JSON.parse(code)
      return undefined
    } catch (error) {
      return String(error)
    }
  })
})

test('docs: YAML that is configuration is one that the gateway takes', (t) => {
  const sections = Object.keys(configSchema.shape)
  let configurations = 0
  assertAll(t, readExamples('yaml'), ({ code }) => {
    if (code.startsWith('---')) return parseAllDocuments(code).length > 0 ? undefined : 'nothing in it'
    const value = parse(code) as Record<string, unknown>
    if (!Object.keys(value).every((key) => sections.includes(key))) return undefined
    configurations++
    const { error } = configSchema.safeParse(value)
    return error?.issues.map(({ path: at, message }) => `${at.join('.')}: ${message}`).join('; ')
  })
  t.true(configurations > 6, `${configurations} configurations`)
})

const TURNPIKE =
  /(?:npx |\.\/node_modules\/\.bin\/|^)turnpike ((?:"[^"]*"|'[^']*'|[^\s|>)"'])+(?:\s+(?:"[^"]*"|'[^']*'|[^\s|>)"'])+)*)/g

/** Returns the fault of words behind `turnpike`; commands of plugins are only known to them. */
function faultOfWords(program: Command, words: readonly string[]): string | undefined {
  let command = program
  let rest = words
  for (;;) {
    const next = command.commands.find((one) => one.name() === rest[0])
    if (next === undefined) break
    command = next
    rest = rest.slice(1)
  }
  if (command === program)
    return ['cache', 'patterns', 'prices'].includes(words[0] ?? '') ? undefined : 'no such command'
  const flags = rest.filter((word) => /^--?\w/.test(word)).map((word) => word.split('=')[0] ?? '')
  const unknown = flags.filter((flag) => !command.options.some(({ long, short }) => long === flag || short === flag))
  if (unknown.length > 0) return `no option ${unknown.join(', ')}`
  const valued = command.options.filter(({ required, optional }) => required || optional)
  const values = flags.filter((flag) => valued.some(({ long, short }) => long === flag || short === flag)).length
  const free = rest.length - flags.length - values
  const args = command.registeredArguments
  const most = args.some(({ variadic }) => variadic) ? Number.POSITIVE_INFINITY : args.length
  return free > most ? `${free} arguments, expected at most ${most}` : undefined
}

test('docs: every command there is, with options that it has', async (t) => {
  const program = await createProgram()
  let commands = 0
  assertAll(t, [...readExamples('sh'), ...readExamples('text')], (example) => {
    const found = commandsOf(example).flatMap((line) => [...line.matchAll(TURNPIKE)])
    const faults = found.flatMap(([, words = '']) => {
      commands++
      const fault = faultOfWords(program, words.match(/"[^"]*"|'[^']*'|\S+/g) ?? [])
      return fault === undefined ? [] : [`turnpike ${words}: ${fault}`]
    })
    return faults.length === 0 ? undefined : faults.join('; ')
  })
  t.true(commands > 20, `${commands} commands`)
})

test('docs: every variable that an example sets is read by something', (t) => {
  const reference = readFileSync(path.join(ROOT, 'docs/reference/configuration.md'), 'utf8')
  const commandLine = readFileSync(path.join(ROOT, 'docs/reference/cli.md'), 'utf8').replaceAll(/\s+/g, ' ') // the help is wrapped
  const OTHERS = ['WALLET', 'NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'NO_PROXY']
  assertAll(t, readExamples('sh'), (example) => {
    const set = commandsOf(example).flatMap((line) => line.match(/(?<=^|\s|export )[A-Z][A-Z0-9_]+(?==)/g) ?? [])
    const unknown = set.filter(
      (name) => !reference.includes(`\`${name}\``) && !commandLine.includes(`env: ${name})`) && !OTHERS.includes(name),
    )
    return unknown.length === 0 ? undefined : unknown.join(', ')
  })
})

/** Opens a gateway with every provider that examples name, and one with the default configuration, which has the demo models. */
async function open() {
  const providers = await Promise.all([startProvider(), startOpenAI(), startGemini()])
  const [anthropic, openai, gemini] = providers
  const newcomers = await startGateway({ SVC_PLUGINS_DIR: 'examples/plugins' })
  const gateway = await startGateway({
    ANTHROPIC_BASE_URL: anthropic.url,
    ANTHROPIC_API_KEY: 'sk-ant-x',
    OPENAI_BASE_URL: `${openai.url}/v1`,
    OPENAI_API_KEY: 'sk-x',
    GEMINI_BASE_URL: gemini.url,
    GEMINI_API_KEY: 'x',
  })
  return { gateway, newcomers, providers }
}

const opened = open()
test.after.always(async () => {
  const { gateway, newcomers, providers } = await opened
  await Promise.all([gateway.stop(), newcomers.stop(), ...providers.map((provider) => provider.close())])
})

test('docs: what is sent with curl is answered', async (t) => {
  const { gateway, newcomers } = await opened
  const sent = readExamples('sh')
    .filter(isAlone)
    .flatMap((example) =>
      commandsOf(example)
        .filter((line) => /^curl .*:3099/.test(line) && !/\$\(|>|-d @/.test(line) && !isSketch(line))
        .map((line) => ({
          place: example.place,
          line: line.replaceAll(USUAL_ADDRESS, (line.includes('claude-') ? gateway : newcomers).url),
        })),
    )
  t.true(sent.length > 2, `${sent.length} requests`)
  for (const { place, line } of sent) {
    const { stdout } = await run('sh', ['-c', line.replace(/^curl /, 'curl -sS --fail-with-body ')])
    t.true(stdout.length > 0, place)
  }
})

test('docs: programs run as they stand, with any provider', async (t) => {
  const { gateway, providers } = await opened
  // Where what they import is found.
  const folder = mkdtempSync(path.join(ROOT, 'node_modules/.docs-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const programs = readExamples('js').filter((example) => isAlone(example) && example.code.includes('import '))
  t.true(programs.length > 2)
  for (const [index, { place, code }] of programs.entries()) {
    const file = path.join(folder, `${index}.mjs`)
    writeFileSync(file, code.replaceAll(USUAL_ADDRESS, gateway.url))
    await t.notThrowsAsync(run(process.execPath, [file]), place)
  }
  t.true(providers.every(({ seen }) => seen.length > 0))
})

test('docs: whole plugins load', async (t) => {
  const plugins = readExamples('ts').filter(({ code }) => code.includes('export default definePlugin('))
  t.true(plugins.length > 1)
  for (const { place, code } of plugins) {
    const name = /name: '([\w-]+)'/.exec(code)?.[1] ?? ''
    const directory = createPluginDirectory(t, { [`${name}/index.ts`]: code })
    const { code: status, stderr } = await runCommandInThread(['plugin', 'check', path.join(directory.path, name)])
    t.is(status, 0, `${place}: ${stderr}`)
  }
})
