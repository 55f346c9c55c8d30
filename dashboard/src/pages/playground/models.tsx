import { TextField } from '../../parts/fields.tsx'

const MOST_MODELS = 3

/** Returns the distinct models to compare: that of the request, and at most two more. */
export function modelsOf(model: string, others: string): readonly string[] {
  const names = [model, ...others.split(',')].map((name) => name.trim()).filter((name) => name !== '')
  return [...new Set(names)].slice(0, MOST_MODELS)
}

/** Field of the models that get the same message. */
export function Models({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  return (
    <TextField
      label="Compare with one or two other models, in place of pipelines"
      value={value}
      placeholder="openai/gpt-5-mini, gemini-2.5-flash"
      autocomplete="off"
      spellcheck={false}
      onText={onChange}
    />
  )
}
