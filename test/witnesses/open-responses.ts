import { createOpenResponses } from '@ai-sdk/open-responses'
import { toClient } from '../clients/matrix/ai-sdk.ts'
import type { Client, ConversationOptions } from '../clients/matrix/client.ts'
import { valueAt } from '../support/json.ts'

/** Name of its options among those of the AI SDK's providers: those of OpenAI's are the same. */
const NAME = 'openai'

/** Returns a model of the AI SDK's provider for servers of Open Responses. */
export function openResponsesModel({ url, headers, model }: Pick<ConversationOptions, 'url' | 'headers' | 'model'>) {
  return createOpenResponses({ name: NAME, url: `${url}/v1/responses`, apiKey: 'any-string', headers })(model)
}

const client = toClient((options) => ({
  model: openResponsesModel(options),
  search: {},
  options: options.reasons ? { reasoningSummary: 'auto' } : {},
}))

/** Vercel's AI SDK with its provider for servers of Open Responses. */
export const aiSdkOpenResponses: Client = {
  ...client,
  /** It takes an error's message only where `param` and `code` are texts, which OpenAI's often are not. */
  readFailure(error) {
    const body: unknown = JSON.parse(String(valueAt(error, 'responseBody')))
    return { ...client.readFailure(error), message: String(valueAt(body, 'error.message')) }
  },
  name: 'ai-sdk-open-responses',
  dialect: 'responses',
}
