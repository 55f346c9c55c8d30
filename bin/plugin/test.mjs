import { importEntry } from '../entry.mjs'

export const { runPlugin } = await importEntry('plugin/test')
