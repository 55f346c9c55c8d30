import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { examplesOf } from '../support/documents.ts'

/** Runs the JavaScript programs of a page against a gateway, beside the packages installed here; resolves with what each prints. */
export async function runPrograms(page: string, gatewayUrl: string): Promise<string[]> {
  const folder = mkdtempSync(path.join(import.meta.dirname, 'node_modules/.docs-'))
  const env = { ...process.env, MASTRA_TELEMETRY_DISABLED: '1' }
  try {
    const printed: string[] = []
    for (const { code } of examplesOf(page).filter(({ language }) => language === 'js')) {
      const file = path.join(folder, `${printed.length}.mjs`)
      writeFileSync(file, code.replaceAll('http://127.0.0.1:3099', gatewayUrl))
      printed.push((await promisify(execFile)(process.execPath, [file], { env })).stdout)
    }
    return printed
  } finally {
    rmSync(folder, { recursive: true })
  }
}
