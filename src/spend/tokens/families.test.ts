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

const [DOT, THIN, SHOT, LARGE] = [
  { width: 1, height: 1 },
  { width: 100, height: 10_000 },
  { width: 1024, height: 1024 },
  { width: 4096, height: 8192 },
]

for (const [model, size, tokens] of [
  ['gpt-4o', DOT, 255],
  ['gpt-4o', THIN, 85 + 4 * 170],
  ['gpt-4o', SHOT, 765],
  ['gpt-4o', LARGE, 1105],
  ['gpt-4o', undefined, 1445],
  ['openai/gpt-4o-mini', DOT, 8500],
  ['gpt-4o-mini', undefined, 2833 + 8 * 5667],
  ['gpt-4.1-mini', SHOT, Math.ceil(1024 * 1.72)],
  ['gpt-5-nano', undefined, Math.ceil(1536 * 2.46)],
  ['gpt-5.5', SHOT, 1024],
  ['gpt-5.5', undefined, 10_000],
  ['gemini-2.5-flash', DOT, 1120],
  ['gemini-2.5-flash', SHOT, 1369],
  ['gemini-2.5-flash', undefined, 4128],
  ['qwen3-vl', LARGE, 16_384],
] as const)
  test(`image rules: ${size === undefined ? 'unknown' : `${size.width} × ${size.height}`} is ${tokens} for ${model}`, (t) => {
    t.is(familyOf(model).image(size), tokens)
  })
