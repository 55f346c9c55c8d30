/** The entry point `turnpike/plugin/cache`: keys, stores and stored replies, for plugins that answer from earlier replies. */
export type { ByteStore, ByteStores } from '../core/ports/byte-store.ts'
export { cacheOptions, sharingRule } from '../core/reply/cache-options.ts'
export {
  factsOf,
  packReply,
  replyFromStored,
  type StoredReply,
  storedOfBytes,
  unpackReply,
} from '../core/reply/stored-reply.ts'
export { type AnswerLimit, isCutByLimit } from '../core/request/answer-limit.ts'
export {
  createFieldsDigest,
  type DigestReach,
  requestIdentity,
  type SharingScope,
} from '../core/request/request-identity.ts'
export { usesStoredState } from '../core/request/stored-state.ts'
export type { SharedEngines } from './contract.ts'
