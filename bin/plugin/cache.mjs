import { importEntry } from '../entry.mjs'

export const {
  cacheOptions,
  createFieldsDigest,
  factsOf,
  isCutByLimit,
  packReply,
  replyFromStored,
  requestIdentity,
  sharingRule,
  storedOfBytes,
  unpackReply,
  usesStoredState,
} = await importEntry('plugin/cache')
