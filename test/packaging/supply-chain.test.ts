import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { lockedPackages } from '../../scripts/docs/licences-page.ts'
import { isJsonObject } from '../support/json.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const packages = lockedPackages(ROOT)
const manifest: unknown = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))

/** Permissive all, without conditions on what is made with them beyond telling their names. */
const ALLOWED = [
  'MIT',
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
  const named = isJsonObject(manifest) && isJsonObject(manifest.allowScripts) ? manifest.allowScripts : {}
  const scripted = packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name)
  t.deepEqual(scripted, Object.keys(named).sort())
})

test('supply chain: direct dependencies are exact versions', (t) => {
  const sections = isJsonObject(manifest)
    ? [manifest.dependencies, manifest.optionalDependencies, manifest.devDependencies]
    : []
  const versions = sections.flatMap((section) => Object.entries(isJsonObject(section) ? section : {}))
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
