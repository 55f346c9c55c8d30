import { systemPrompt, tools, user } from './conversation.ts'
import type { RequestForm } from './request-form.ts'

/** Anthropic's Messages. */
export const messagesForm: RequestForm = {
  path: '/v1/messages',
  toRequest: ({ model, stream, hasTools }, messages) => ({
    model,
    max_tokens: 1024,
    ...(stream ? { stream: true } : {}),
    system: systemPrompt,
    ...(hasTools ? { tools: tools.map(({ schema, ...tool }) => ({ ...tool, input_schema: schema })) } : {}),
    messages,
    metadata: { user_id: user },
  }),
  toMessages({ question, call, answer }) {
    const asked = { role: 'user', content: question }
    const answered = { role: 'assistant', content: answer }
    if (call === undefined) return [asked, answered]
    const id = `toolu_${call.id}`
    const text = { type: 'text', text: call.remark }
    const use = { type: 'tool_use', id, name: call.name, input: call.input }
    const result = { type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: call.result }] }
    return [asked, { role: 'assistant', content: [text, use] }, { role: 'user', content: [result] }, answered]
  },
}
