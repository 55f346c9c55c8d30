import { importEntry } from '../entry.mjs'

export const { ThreadHost, abortable, onAbort } = await importEntry('plugin/thread')
