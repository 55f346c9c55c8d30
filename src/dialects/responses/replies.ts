import { MESSAGES_REPLIES, type ReplyDialect } from '../../core/reply/reply-dialect.ts'

/**
 * The dialect of a Responses client's replies. No provider replies in it: every reply is in the Messages shape until it is
 * rendered for the client, so its readers are those of that shape.
 */
export const RESPONSES_REPLIES: ReplyDialect = { ...MESSAGES_REPLIES, name: 'responses' }
