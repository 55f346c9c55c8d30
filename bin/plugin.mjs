import { importEntry } from './entry.mjs'

export const {
  GatewayError,
  RequestDocument,
  abortable,
  bytes,
  definePlugin,
  duration,
  explain,
  jsonReply,
  messageReply,
  onAbort,
  suggest,
  z,
} = await importEntry('plugin')
