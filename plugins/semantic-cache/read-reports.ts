import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** What gateways have written of their modes into the plugin's folder: by file, as it stands there. */
export async function reportsIn(folder: string): Promise<Record<string, unknown>> {
  const names = await readdir(path.join(folder, 'reports')).catch(() => [])
  const reports = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map(async (name) => [name, JSON.parse(await readFile(path.join(folder, 'reports', name), 'utf8'))]),
  )
  return reports.length === 0 ? {} : { reports: Object.fromEntries(reports) }
}
