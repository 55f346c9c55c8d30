/** Defaults of a known service that speaks chat completions. */
export interface Preset {
  readonly title: string
  readonly baseUrl: string
  /** The environment variable of its credential; self-hosted servers need none. */
  readonly keyVariable?: string
  /** The environment variable of its address, for self-hosted servers. */
  readonly urlVariable?: string
  /** Prefix of its credentials. */
  readonly ownCredential?: RegExp
  /** The member of a message that carries reasoning text, if the service accepts it back. */
  readonly reasoningField?: 'reasoning_content' | 'reasoning'
  readonly reasoningEffort?: boolean
  readonly mostStopSequences?: number
  /** False where `stream_options` is refused; there, usage always comes with the last chunk. */
  readonly streamUsage?: boolean
  /** Model names that select it without a prefix. */
  readonly models?: RegExp
}

/** Known services, by the name that is their prefix. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  openrouter: {
    title: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    ownCredential: /^sk-or-/,
    reasoningField: 'reasoning',
    reasoningEffort: true,
  },
  groq: {
    title: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
    ownCredential: /^gsk_/,
    reasoningEffort: true,
  },
  mistral: {
    title: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
    streamUsage: false,
    models: /^(mistral-|ministral-|magistral-|codestral-|devstral-|pixtral-|open-mistral-)/,
  },
  deepseek: {
    title: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariable: 'DEEPSEEK_API_KEY',
    reasoningField: 'reasoning_content',
    mostStopSequences: 16,
    models: /^deepseek-/,
  },
  xai: {
    title: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
    ownCredential: /^xai-/,
    reasoningEffort: true,
    models: /^grok-/,
  },
  together: {
    title: 'Together',
    baseUrl: 'https://api.together.xyz/v1',
    keyVariable: 'TOGETHER_API_KEY',
  },
  fireworks: {
    title: 'Fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyVariable: 'FIREWORKS_API_KEY',
    ownCredential: /^fw_/,
    reasoningField: 'reasoning_content',
    reasoningEffort: true,
  },
  ollama: {
    title: 'Ollama, on a machine of yours',
    baseUrl: 'http://127.0.0.1:11434/v1',
    urlVariable: 'OLLAMA_BASE_URL',
    reasoningEffort: true,
  },
  vllm: {
    title: 'vLLM, on a machine of yours',
    baseUrl: 'http://127.0.0.1:8000/v1',
    urlVariable: 'VLLM_BASE_URL',
    reasoningField: 'reasoning_content',
  },
  'llama.cpp': {
    title: 'llama.cpp’s server, on a machine of yours',
    baseUrl: 'http://127.0.0.1:8080/v1',
    urlVariable: 'LLAMA_CPP_BASE_URL',
    reasoningField: 'reasoning_content',
  },
}
