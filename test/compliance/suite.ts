import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

/** A result of one of the suite's tests, whose names are its own. */
export interface SuiteResult {
  readonly id: string
  readonly status: 'pending' | 'running' | 'passed' | 'failed' | 'skipped'
  readonly errors?: readonly string[]
  readonly response?: unknown
}

/** The parts of the suite that are called. */
export interface Suite {
  readonly runAllTests: (
    config: {
      baseUrl: string
      apiKey: string
      authHeaderName: string
      useBearerPrefix: boolean
      model: string
      runtime: 'server'
    },
    onProgress: (result: SuiteResult) => void,
  ) => Promise<SuiteResult[]>
}

const ENTRY = 'src/lib/compliance-tests.ts'

/**
 * Imports the suite from a checkout of its repository. Its imports lack extensions and its schemas are of zod 3, so it is
 * bundled first, without its other packages.
 */
export async function importSuite(checkout: string): Promise<Suite> {
  const input = path.resolve(checkout, ENTRY)
  if (!existsSync(input))
    throw new Error(`Expected a checkout of openresponses/openresponses; ${input} does not exist.`)
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-compliance-'))
  try {
    const file = path.join(folder, 'suite.mjs')
    const zod = path.resolve(import.meta.dirname, '../../node_modules/zod/v3/index.js')
    const bundle = await rolldown({ input, platform: 'node', resolve: { alias: { zod } } })
    await bundle.write({ file, format: 'esm' })
    return (await import(pathToFileURL(file).href)) as Suite // safe: the suite's module
  } finally {
    rmSync(folder, { recursive: true })
  }
}
