import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { Message } from '../../../core/request/message.ts'
import type { RequestDocument } from '../../../core/request/request.ts'
import type { ChatHabits } from '../to-chat-request.ts'
import { toAssistantMessage } from './chat-assistant-message.ts'
import { toUserMessages } from './chat-user-messages.ts'
import { asJson, dropLeftovers, isNothing } from './json-value.ts'
import { RawInputs } from './raw-inputs.ts'

/** Context of the translation of messages. */
export interface ChatMessagesOptions {
  readonly habits: ChatHabits
  readonly droppedFields: DroppedFields
}

const MESSAGE = { known: new Set(['role', 'content']), place: 'messages' }

/** Returns the messages of a chat request: the system's first, then the turns, with tool results as separate messages. */
export function toChatMessages(request: RequestDocument, { habits, droppedFields }: ChatMessagesOptions): JsonObject[] {
  const inputs = new RawInputs(request)
  const { systemRole, reasoningField } = habits
  const messages = systemMessages(request.field('system'), systemRole, droppedFields)
  for (const [index, message] of request.messages.entries()) {
    const { role, content } = message
    const path = `messages[${index}].content`
    dropLeftovers(asJson(message), MESSAGE, droppedFields)
    if (role === 'user') for (const each of toUserMessages(content, path, droppedFields)) messages.push(each)
    else if (role === 'system') messages.push({ role: systemRole, content: textOf(content, { path, droppedFields }) })
    else {
      const rawInputs = () => inputs.of(index)
      messages.push(toAssistantMessage(content, { path, rawInputs, reasoningField, droppedFields }))
    }
  }
  refusePrefill(request.messages, habits, droppedFields)
  return messages
}

/** Refuses a final assistant message: OpenAI answers it with a new message; most compatible servers continue it. */
function refusePrefill(
  messages: readonly Message[],
  { maxTokensField }: ChatHabits,
  droppedFields: DroppedFields,
): void {
  if (maxTokensField === 'max_completion_tokens' && messages.at(-1)?.role === 'assistant')
    droppedFields.refuse(
      `messages[${messages.length - 1}]`,
      'this provider cannot continue an answer that has been begun',
    )
}

/** Returns the text of `system`; `undefined` when there is none. */
export function textOfSystem(system: unknown, droppedFields: DroppedFields): string | undefined {
  return isNothing(system) ? undefined : textOf(system, { path: 'system', droppedFields })
}

function systemMessages(system: unknown, role: string, droppedFields: DroppedFields): JsonObject[] {
  const content = textOfSystem(system, droppedFields)
  return content === undefined ? [] : [{ role, content }]
}

const TEXT_MEMBERS = new Set(['type', 'text'])

/** Returns the text of the system's content; its blocks are paragraphs. */
function textOf(content: unknown, { path, droppedFields }: { path: string; droppedFields: DroppedFields }): string {
  if (typeof content === 'string') return content
  const place = path === 'system' ? 'system' : 'messages.content'
  const texts: string[] = []
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    if (isObject(block) && block.type === 'text' && typeof block.text === 'string') {
      dropLeftovers(block, { known: TEXT_MEMBERS, place }, droppedFields)
      texts.push(block.text)
    } else droppedFields.refuse(`${path}[${index}]`, 'only text is allowed here for this provider')
  }
  return texts.join('\n\n')
}
