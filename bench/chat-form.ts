import { systemPrompt, tools, user } from './conversation.ts'
import type { RequestForm } from './request-form.ts'

/** OpenAI's chat completions. Streams are requested without `include_usage`, as most clients do. */
export const chatForm: RequestForm = {
  path: '/v1/chat/completions',
  toRequest: ({ model, stream, hasTools }, messages) => ({
    model,
    max_completion_tokens: 1024,
    ...(stream ? { stream: true } : {}),
    ...(hasTools ? { tools: tools.map(toTool) } : {}),
    messages: [{ role: 'system', content: systemPrompt }, ...messages],
    user,
  }),
  toMessages({ question, call, answer }) {
    const asked = { role: 'user', content: question }
    const answered = { role: 'assistant', content: answer }
    if (call === undefined) return [asked, answered]
    const id = `call_${call.id}`
    const called = { name: call.name, arguments: JSON.stringify(call.input) }
    return [
      asked,
      { role: 'assistant', content: call.remark, tool_calls: [{ id, type: 'function', function: called }] },
      { role: 'tool', tool_call_id: id, content: call.result },
      answered,
    ]
  },
}

function toTool({ schema, ...named }: (typeof tools)[number]): object {
  return { type: 'function', function: { ...named, parameters: schema } }
}
