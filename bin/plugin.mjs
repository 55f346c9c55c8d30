import { importEntry } from './entry.mjs'

export const { GatewayError, RequestDocument, bytes, definePlugin, duration, jsonReply, messageReply, replaceText, z } =
  await importEntry('plugin')
