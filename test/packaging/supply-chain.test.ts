import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { lockedPackages } from '../../scripts/docs/licences-page.ts'
import { isJsonObject } from '../support/json.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const packages = lockedPackages(ROOT)
const manifest: unknown = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))

const { packages: locked }: { packages: Record<string, { hasInstallScript?: boolean; engines?: object }> } = JSON.parse(
  readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'),
)

function section(name: string): Readonly<Record<string, unknown>> {
  const found = isJsonObject(manifest) ? manifest[name] : undefined
  return isJsonObject(found) ? found : {}
}

/** Permissive all, without conditions on what is made with them beyond telling their names. */
const ALLOWED = [
  'MIT',
  'MIT-0',
  'Apache-2.0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  '(MIT OR CC0-1.0)',
]

test('supply chain: every package of an installation has a permissive licence', (t) => {
  t.true(packages.length > 150, `${packages.length} packages`)
  t.deepEqual(
    packages.filter(({ licence }) => !ALLOWED.includes(licence)).map(({ name, licence }) => `${name}: ${licence}`),
    [],
  )
})

test('supply chain: every package of an installation is pinned by the digest of its archive', (t) => {
  const loose = packages.filter(({ integrity }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''))
  t.deepEqual(
    loose.map(({ name }) => name),
    [],
  )
})

test('supply chain: install scripts run for the packages that are named, and no others have any', (t) => {
  const named = Object.keys(section('allowScripts'))
  const scripted = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript)
  const onDemand = Object.keys(section('peerDependencies'))
  t.deepEqual([...scripted.map(([place]) => place.replace(/^.*node_modules\//, '')), ...onDemand].sort(), named.sort())
})

test('supply chain: npm does not compare engines with its own Node, and all packages take the one that the project brings', (t) => {
  const { node } = section('devDependencies')
  const places = Object.keys(locked).filter((place) => place !== '')
  t.deepEqual(
    places.filter((place) => locked[place]?.engines !== undefined),
    [],
    'npm run lock',
  )
  const installed = places.filter((place) => existsSync(path.join(ROOT, place, 'package.json')))
  t.true(installed.length > 300, `${installed.length} installed`)
  t.deepEqual(
    installed.filter((place) => !takesNode(enginesOf(place), String(node))),
    [],
  )
})

/** Finds `*`, or a lower bound without an upper one, that the version meets. */
function takesNode(range: string | undefined, version: string): boolean {
  if (range === undefined) return true
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return range.split('||').some((part) => {
    const [, least, then] = /^\s*(?:\*|>=\s*(\d+)(?:\.(\d+))?[.\dx*]*)\s*$/.exec(part) ?? [undefined, '-1']
    if (least === undefined) return true
    return Number(least) >= 0 && (major > Number(least) || (major === Number(least) && minor >= Number(then ?? 0)))
  })
}

function enginesOf(place: string): string | undefined {
  const { engines }: { engines?: { node?: string } } = JSON.parse(
    readFileSync(path.join(ROOT, place, 'package.json'), 'utf8'),
  )
  return engines?.node
}

test('supply chain: direct dependencies are exact versions', (t) => {
  const sections = ['dependencies', 'optionalDependencies', 'peerDependencies', 'devDependencies'].map(section)
  const versions = sections.flatMap((each) => Object.entries(each))
  t.true(versions.length > 40)
  t.deepEqual(
    versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version))),
    [],
  )
})

test('supply chain: actions of workflows are pinned by their commit', (t) => {
  const folder = path.join(ROOT, '.github/workflows')
  const lines = readdirSync(folder).flatMap((file) => readFileSync(path.join(folder, file), 'utf8').split('\n'))
  const used = lines.flatMap((line) => /^\s*(?:- )?uses:\s*(\S+)/.exec(line)?.[1] ?? [])
  t.true(used.length > 0)
  t.deepEqual(
    used.filter((action) => !/@[0-9a-f]{40}$/.test(action)),
    [],
  )
})
