import type { ChatHabits } from '../../dialects/chat/to-chat-request.ts'
import { bearer } from '../chat/bearer.ts'
import { ChatProvider } from '../chat/provider.ts'
import { CHAT_HEADERS } from '../headers.ts'
import { defineProviderKind, type ProviderParts } from '../kind.ts'
import { keysOf } from '../options.ts'
import { Upstream } from '../upstream.ts'
import { compatibleOptions, type ServiceOptions } from './options.ts'
import { PRESETS, type Preset } from './presets.ts'

export const kind = defineProviderKind({
  name: 'openai-compatible',
  summary: 'Services that speak OpenAI’s chat completions, any number of them, each under its own name.',
  options: compatibleOptions,
  settings: Object.fromEntries(
    Object.entries(PRESETS).map(([name, { keyVariable, urlVariable }]) => [
      name,
      keyVariable ?? urlVariable ?? `providers.openai-compatible.${name}`,
    ]),
  ),
  create: (section, parts) =>
    Object.entries(section).flatMap(([name, options]) =>
      options === undefined ? [] : [createService(name, options, parts)],
    ),
})

function createService(name: string, options: ServiceOptions, parts: ProviderParts): ChatProvider {
  const preset: Preset | undefined = PRESETS[name]
  const upstream = new Upstream(
    {
      name,
      baseUrl: options.base_url,
      keys: keysOf(options),
      form: bearer(preset?.keyVariable, preset?.ownCredential),
      // A service with a variable for its credential needs one, at its own address.
      credentialOptional: preset?.keyVariable === undefined || options.base_url !== preset.baseUrl,
      headers: CHAT_HEADERS,
      extraHeaders: options.headers,
    },
    parts,
  )
  return new ChatProvider({
    upstream,
    api: options.api,
    compacts: options.compacts,
    habits: habitsOf(options),
    tokens: parts.tokens,
    models: preset?.models,
  })
}

function habitsOf(options: ServiceOptions): ChatHabits {
  return {
    maxTokensField: 'max_tokens',
    systemRole: 'system',
    reasoningField: options.reasoning_field === 'none' ? undefined : options.reasoning_field,
    reasoningEffort: options.reasoning_effort,
    fixedSampling: undefined,
    mostStopSequences: options.max_stop_sequences,
    streamUsage: options.stream_usage,
  }
}
