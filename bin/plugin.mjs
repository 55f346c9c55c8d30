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
  replaceText,
  suggest,
  z,
} = await importEntry('plugin')
