import { importEntry } from '../entry.mjs'

export const { explain, suggest } = await importEntry('plugin/commands')
