import { bodyOf, type Draft } from './draft.ts'

/** Fields of the request, or its body as JSON. */
export function DraftFields({ draft, onChange }: { draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  if (draft.body !== undefined)
    return (
      <label>
        <span>Body, sent to {draft.path}</span>
        <textarea
          rows={14}
          value={draft.body}
          spellcheck={false}
          onInput={({ currentTarget }) => onChange({ body: currentTarget.value })}
        />
      </label>
    )
  return (
    <>
      <div class="filters">
        <label class="search">
          <span>Model</span>
          <input
            value={draft.model}
            required
            onInput={({ currentTarget }) => onChange({ model: currentTarget.value })}
          />
        </label>
        <label>
          <span>Most tokens</span>
          <input
            type="number"
            min={1}
            value={draft.maxTokens}
            onInput={({ currentTarget }) => onChange({ maxTokens: currentTarget.valueAsNumber || 1 })}
          />
        </label>
        <button
          type="button"
          class="quiet"
          onClick={() => onChange({ body: JSON.stringify(JSON.parse(bodyOf(draft)), undefined, 2) })}
        >
          Edit as JSON
        </button>
      </div>
      <label>
        <span>System, if any</span>
        <textarea
          rows={2}
          value={draft.system}
          onInput={({ currentTarget }) => onChange({ system: currentTarget.value })}
        />
      </label>
      <label>
        <span>Message</span>
        <textarea
          rows={5}
          value={draft.message}
          onInput={({ currentTarget }) => onChange({ message: currentTarget.value })}
        />
      </label>
    </>
  )
}
