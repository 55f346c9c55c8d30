import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import path from 'node:path'
import { once } from './once.ts'
import { createRecordingLog } from './recording-log.ts'

/** Databases of a data folder. */
const FILES = ['turnpike.db', 'telemetry.db']

/**
 * Puts databases with the gateway's tables and no rows into an empty data folder: their creation is a third of the CPU of
 * a start. They are copies of a template beside the bundle of the sources, so their migrations are those of the
 * sources; without a bundle there is no template, and the gateway creates its tables itself.
 */
export async function putTables(dataFolder: string): Promise<void> {
  const template = await findTemplate()
  if (template === undefined) return
  for (const file of FILES) await copyFile(path.join(template, file), path.join(dataFolder, file))
}

const findTemplate = once(async () => {
  const { TURNPIKE_TEST_SOURCES } = process.env
  if (!TURNPIKE_TEST_SOURCES) return undefined
  const template = path.join(path.dirname(path.resolve(TURNPIKE_TEST_SOURCES)), 'tables')
  if (!existsSync(template)) await createTemplate(template)
  return template
})

/** Migrates under another name, so that there is no half template. */
async function createTemplate(template: string): Promise<void> {
  const { migrateDatabase } = await import('../../src/stores/sql/engine/migrate.ts')
  const unfinished = mkdtempSync(`${template}-`)
  await migrateDatabase({ databaseUrl: undefined, dataDir: unfinished, log: createRecordingLog() })
  chmodSync(unfinished, 0o755)
  try {
    renameSync(unfinished, template)
  } catch (error) {
    rmSync(unfinished, { recursive: true })
    if (!existsSync(template)) throw error // otherwise a concurrent file has made it
  }
}
