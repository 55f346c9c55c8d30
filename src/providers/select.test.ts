import test from 'ava'
import type { Provider } from '../core/ports/provider.ts'
import { type Selection, selectTarget } from './select.ts'

/** Providers with a name and a pattern of the models that they claim; `other` gets the rest. */
const selection: Selection = {
  providers: new Map(
    Object.entries({ anthropic: /^claude-/, openai: /^gpt-/, other: /never/ }).map(([name, models]) => [
      name,
      { name, claims: (model: string) => models.test(model) } as Provider,
    ]),
  ),
  fallback: 'other',
}

for (const [model, provider, selected] of [
  ['openai/gpt-4o', 'openai', 'gpt-4o'],
  ['other/org/model', 'other', 'org/model'],
  ['gpt-4o', 'openai', 'gpt-4o'],
  ['claude-x', 'anthropic', 'claude-x'],
  ['my-gpt-4o', 'other', 'my-gpt-4o'],
  ['openai', 'other', 'openai'],
] as const) {
  test(`select: \`${model}\` selects \`${selected}\` of ${provider}`, (t) => {
    t.deepEqual(selectTarget(model, selection), { provider, model: selected })
  })
}

for (const model of ['opnai/gpt-4o', '/gpt-4o', 'OpenAI/gpt-4o', 'meta-llama/llama-3', '__proto__/x']) {
  test(`select: \`${model}\` has no provider, and the error names the prefix`, (t) => {
    const error = t.throws(() => selectTarget(model, selection), { code: 'invalid_request' })
    t.true(
      error.message.startsWith(
        `model: expected the name of a provider before the slash, got \`${model.split('/')[0]}\``,
      ),
    )
  })
}

test('select: a prefix without a name after it is refused', (t) => {
  t.throws(() => selectTarget('other/', selection), { message: /expected a model name after `other\/`/ })
})
