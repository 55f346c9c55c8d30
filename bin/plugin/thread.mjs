import { importEntry } from '../entry.mjs'

export const { ThreadHost } = await importEntry('plugin/thread')
