/**
 * Builds the dashboard into `dashboard/dist`, in a second: `npm ci` does it as its last step (`prepare`), `npm pack`
 * before it packs, and `npm test` before the tests. Without development packages there is no builder: it prints a line
 * and succeeds, and the gateway explains at `/` how to get the pages.
 */
import path from 'node:path'

const ROOT = path.resolve(import.meta.dirname, '../dashboard')

async function findBuilder() {
  try {
    return await import('vite')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return undefined
  }
}

const builder = await findBuilder()
if (builder === undefined) console.log('The dashboard is not built: vite is not installed (npm ci without --omit=dev).')
else await builder.build({ root: ROOT, configFile: path.join(ROOT, 'vite.config.ts'), logLevel: 'warn' })
