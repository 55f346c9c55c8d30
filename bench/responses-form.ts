import { systemPrompt, tools, user } from './conversation.ts'
import type { RequestForm } from './request-form.ts'

/** OpenAI's Responses, without stored state, as coding agents send them. */
export const responsesForm: RequestForm = {
  path: '/v1/responses',
  toRequest: ({ model, stream, hasTools }, messages) => ({
    model,
    max_output_tokens: 1024,
    ...(stream ? { stream: true } : {}),
    ...(hasTools ? { tools: tools.map(toTool) } : {}),
    instructions: systemPrompt,
    input: messages,
    store: false,
    safety_identifier: user,
  }),
  toMessages({ question, call, answer }) {
    const asked = { role: 'user', content: question }
    const answered = { role: 'assistant', content: answer }
    if (call === undefined) return [asked, answered]
    const call_id = `call_${call.id}`
    return [
      asked,
      { role: 'assistant', content: call.remark },
      { type: 'function_call', call_id, name: call.name, arguments: JSON.stringify(call.input) },
      { type: 'function_call_output', call_id, output: call.result },
      answered,
    ]
  },
}

function toTool({ schema, ...named }: (typeof tools)[number]): object {
  return { type: 'function', ...named, parameters: schema, strict: false }
}
