import test from 'ava'
import { familyOf } from './families.ts'

const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  claude: [
    ...['claude-sonnet-4-5', 'claude-opus-4-6', 'claude-3-5-sonnet-20241022', 'claude-opus-4-20250514', 'claude-2.1'],
    ...['anthropic.claude-sonnet-4-20250514-v1:0', 'claude-opus-4@20250514', 'anthropic/claude-3.7-sonnet'],
  ],
  'claude-4.7': [
    ...['claude-opus-4-7', 'claude-opus-4-8-20260301', 'claude-opus-4.7', 'claude-opus-4-10', 'claude-sonnet-5'],
    ...['us.anthropic.claude-opus-4-7-v1:0', 'claude-fable-5-1', 'claude-next', 'Claude-Opus-5'],
  ],
  o200k: ['gpt-4o', 'gpt-4o-mini', 'openai/gpt-4.1', 'gpt-5.5', 'o3-mini', 'o1', 'chatgpt-4o-latest', 'gpt-oss-120b'],
  other: ['gemini-2.5-pro', 'qwen3-32b', 'gpt-4-turbo', 'gpt-3.5-turbo', 'olmo-2', 'llama-3.1-8b', ''],
}

for (const [family, models] of Object.entries(FAMILIES)) {
  for (const model of models) {
    test(`model family: \`${model}\` is ${family}`, (t) => {
      t.is(familyOf(model).name, family)
    })
  }
}
