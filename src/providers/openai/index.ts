import { z } from 'zod'
import type { ChatHabits } from '../../dialects/chat/to-chat-request.ts'
import { bearer } from '../chat/bearer.ts'
import { ChatProvider } from '../chat/provider.ts'
import { CHAT_HEADERS } from '../headers.ts'
import { defineProviderKind } from '../kind.ts'
import { address, api, credentialOptions, fromEnv, keysOf } from '../options.ts'
import { Upstream } from '../upstream.ts'

const DEFAULT_URL = 'https://api.openai.com/v1'
const MODELS = /^(gpt-|chatgpt-|o[1-9](-|$)|codex-|ft:gpt-)/
const OWN_CREDENTIAL = /^sk-(?!ant-|or-)/

const HABITS: ChatHabits = {
  maxTokensField: 'max_completion_tokens',
  systemRole: 'system',
  reasoningField: undefined,
  reasoningEffort: true,
  // OpenAI, "Reasoning models" and the pages of the models.
  otherEfforts: new Map([
    ['minimal', /^gpt-5(-mini|-nano)?(-\d{4}-.*)?$/],
    ['xhigh', /^gpt-5\.([2-9]|1-codex-max)/],
  ]),
  fixedSampling: /^(o[1-9](-|$)|gpt-5(?!.*chat))/,
  withoutStop: /^(o3|o4|gpt-5(?!.*chat))/,
  withoutParallelChoice: /^o[1-9](-|$)/,
  // OpenAI, "Prompt caching": GPT-5.6 and later families.
  cacheOptions: /^gpt-(?:5\.[6-9]|[6-9])/,
  mostStopSequences: 4,
  streamUsage: true,
}

export const kind = defineProviderKind({
  name: 'openai',
  summary: 'OpenAI’s chat completions: `gpt-…` and `o…` models.',
  options: z
    .strictObject({
      base_url: fromEnv(address.default(DEFAULT_URL), 'OPENAI_BASE_URL').describe(
        'Address of the API, with `/v1`. A custom address needs no credential.',
      ),
      api,
      ...credentialOptions('OPENAI_API_KEY'),
    })
    .prefault({}),
  create(options, parts) {
    const upstream = new Upstream(
      {
        name: 'openai',
        baseUrl: options.base_url,
        keys: keysOf(options),
        form: bearer('OPENAI_API_KEY', OWN_CREDENTIAL),
        credentialOptional: options.base_url !== DEFAULT_URL,
        headers: CHAT_HEADERS,
      },
      parts,
    )
    return [new ChatProvider({ upstream, api: options.api, habits: HABITS, tokens: parts.tokens, models: MODELS })]
  },
})
