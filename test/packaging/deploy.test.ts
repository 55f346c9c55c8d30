import { execFile } from 'node:child_process'
import { cpSync, globSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { parse } from 'yaml'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')
const dockerfile = read('Dockerfile').replaceAll('\\\n', '')

/** Returns the arguments of each instruction of one name, in the image that is run. */
function instructions(name: string): string[] {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
  return [...last.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, rest = '']) => rest)
}

test('deploy: what the image holds is all that the gateway needs, and its health check finds it', async (t) => {
  const app = createPluginDirectory(t).path
  const copied = instructions('COPY').map((words) => words.replace('--from=build /app/', ''))
  for (const words of copied.map((text) => text.split(' ')).filter(([from]) => from !== 'node_modules'))
    for (const file of words.slice(0, -1)) cpSync(path.join(ROOT, file), path.join(app, file), { recursive: true })
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(app, 'node_modules'))
  const [program, ...start]: string[] = JSON.parse(instructions('ENTRYPOINT')[0] ?? '')
  t.deepEqual([program, ...start], ['node', 'bin/turnpike.mjs'])
  const gateway = await startGatewayProcess(
    { NODE_COMPILE_CACHE: path.join(app, 'cache') },
    { entry: 'bin/turnpike.mjs', cwd: app },
  )
  t.teardown(() => gateway.stop())
  const headers = { 'x-svc-pipe': 'prune-tools,compress,patterns,preserve,semantic-cache' }
  t.is((await send(gateway.url, { body: ask('hi', { model: 'demo/echo' }), headers })).status, 200)
  t.is((await send(gateway.url, { method: 'GET', path: '/' })).status, 200, 'the dashboard is in it')
  const [, ...check]: string[] = JSON.parse(instructions('HEALTHCHECK')[0]?.replace(/^.*CMD /, '') ?? '')
  const probe = (port: number) => run(process.execPath, check, { env: { PORT: String(port) } })
  await t.notThrowsAsync(probe(gateway.port))
  await gateway.stop()
  await t.throwsAsync(probe(gateway.port))
})

test('deploy: every variable that is set or named is one that the gateway reads', (t) => {
  const known = new Set(read('docs/reference/configuration.md').match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b/g))
  for (const name of ['NODE_ENV', 'NODE_COMPILE_CACHE', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_ARENA_MAX', 'NODE_OPTIONS'])
    known.add(name)
  const compose = parse(read('compose.yaml')) as { services: { gateway: { environment: Record<string, string> } } }
  const unit = read('deploy/systemd/turnpike.service')
  const named = [
    ...instructions('ENV').flatMap((words) => words.match(/\b[A-Z_]+(?==)/g) ?? []),
    ...Object.keys(compose.services.gateway.environment),
    ...(/^Environment=(.*)$/m.exec(unit)?.[1]?.match(/\b[A-Z_]+(?==)/g) ?? []),
    ...(read('deploy/helm/turnpike/templates/deployment.yaml').match(/(?<=name: )[A-Z_]+(?=,)/g) ?? []),
    ...(read('docs/deploying.md').match(/\b[A-Z]+_[A-Z_]+\b/g) ?? []),
  ]
  t.true(named.length > 10, `${named.length} names`)
  t.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  )
})

test('deploy: the chart asks for no value that it does not set', (t) => {
  const values: unknown = parse(read('deploy/helm/turnpike/values.yaml'))
  const templates = globSync('deploy/helm/turnpike/templates/*', { cwd: ROOT }).map(read)
  const asked = new Set(templates.join('\n').match(/(?<=\.Values\.)[\w.]+/g))
  t.true(asked.size > 8)
  const isSet = (name: string) =>
    name.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], values) !==
    undefined
  t.deepEqual(
    [...asked].filter((name) => !isSet(name)),
    [],
  )
})
