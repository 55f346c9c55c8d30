import { readFileSync } from 'node:fs'
import path from 'node:path'
import { code, GENERATED, table } from './markdown.ts'

const INTRODUCTION = `# Licences

The packages that an installation without development dependencies may hold, optional ones and those of other platforms
included, with the licences that they declare, as the lockfile has them. \`test/packaging/supply-chain.test.ts\` fails for
a licence that is not among those below. A bill of materials in the form of CycloneDX: \`npm run sbom\`.`

/** Package that an installation may contain. */
export interface LockedPackage {
  readonly name: string
  readonly version: string
  readonly licence: string
  /** Digest of its archive; `undefined` when the lockfile has none. */
  readonly integrity: string | undefined
  /** Set when npm may run an install script of the package. */
  readonly hasInstallScript: boolean
}

interface LockEntry {
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
}

/** Returns the packages of the lockfile that are not for development only, by name. */
export function lockedPackages(root: string): LockedPackage[] {
  const { packages }: { packages: Record<string, LockEntry> } = JSON.parse(
    readFileSync(path.join(root, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(packages)
    .filter(([place, { dev }]) => place !== '' && dev !== true)
    .map(([place, { version, license, integrity, hasInstallScript }]) => ({
      name: place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      licence: license ?? 'none',
      integrity,
      hasInstallScript: hasInstallScript === true,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
}

/** Renders the reference page of installed packages and their licences. */
export function licencesPage(root: string): string {
  const packages = lockedPackages(root)
  const byLicence = [...Map.groupBy(packages, ({ licence }) => licence)].sort((a, b) => b[1].length - a[1].length)
  const counts = table(
    ['licence', 'packages'],
    byLicence.map(([licence, those]) => [licence, String(those.length)]),
  )
  const rows = packages.map(({ name, version, licence }) => [code(name), version, licence])
  return `${[GENERATED, INTRODUCTION, counts, table(['package', 'version', 'licence'], rows)].join('\n\n')}\n`
}
