import type { ListedRequest } from '../../../src/core/telemetry/telemetry.ts'
import { conversationHash, shortId } from '../conversation.ts'
import { NOTHING } from '../format.ts'

/** Link of a request to its turn in its conversation. */
export function ConversationLink({ id, conversation }: Pick<ListedRequest, 'id' | 'conversation'>) {
  if (conversation === null) return <>{NOTHING}</>
  return (
    <a class="mono" href={conversationHash(conversation.id, id)} title={conversation.id}>
      {shortId(conversation.id)}
    </a>
  )
}
