import './pipeline-editor.css'
import { useRef, useState } from 'preact/hooks'
import { fromSteps, moved, toSteps } from '../pipeline-text.ts'

/** Pipeline under construction. */
export interface PipelineEditorProps {
  readonly label: string
  readonly value: string
  /** Names of the installed plugins. */
  readonly modules: readonly string[]
  readonly onChange: (text: string) => void
}

/**
 * Editor of a pipeline as text, and as steps that can be dragged, moved with the arrow keys and removed with Delete.
 */
export function PipelineEditor({ label, value, modules, onChange }: PipelineEditorProps) {
  const steps = toSteps(value)
  const list = useRef<HTMLOListElement>(null)
  const [dragged, drag] = useState<number | undefined>()
  const [status, setStatus] = useState('')
  const put = (next: readonly string[]) => onChange(fromSteps(next))
  const move = (from: number, to: number) => {
    put(moved(steps, from, to))
    setStatus(`${steps[from]} is now number ${Math.max(0, Math.min(steps.length - 1, to)) + 1}`)
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>('.chip')[to]?.focus())
  }
  const onKey = (event: KeyboardEvent, index: number) => {
    const to = { ArrowLeft: index - 1, ArrowUp: index - 1, ArrowRight: index + 1, ArrowDown: index + 1 }[event.key]
    if (to !== undefined && to >= 0 && to < steps.length) move(index, to)
    else if (event.key === 'Delete' || event.key === 'Backspace') put(steps.toSpliced(index, 1))
    else return
    event.preventDefault()
  }
  const free = modules.filter((name) => !steps.some((step) => step.split('?')[0] === name))
  return (
    <div class="pipeline">
      <label>
        <span>{label}</span>
        <input
          value={value}
          spellcheck={false}
          class="mono"
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </label>
      <ol ref={list} class="chips" aria-label={`Steps of ${label}`}>
        {steps.map((step, index) => (
          <li key={`${step} ${index}`}>
            <button
              type="button"
              class={`chip ${dragged === index ? 'is-dragged' : ''}`}
              draggable
              title="Drag, or press an arrow key, to move; Delete removes"
              onDragStart={(event) => {
                // Firefox starts no drag without data.
                event.dataTransfer?.setData('text/plain', step)
                drag(index)
              }}
              onDragEnd={() => drag(undefined)}
              onDragOver={(event) => event.preventDefault()}
              onDrop={(event) => {
                event.preventDefault()
                if (dragged !== undefined) move(dragged, index)
              }}
              onKeyDown={(event) => onKey(event, index)}
            >
              {step}
            </button>
            <button
              type="button"
              class="quiet small"
              aria-label={`Remove ${step}`}
              onClick={() => put(steps.toSpliced(index, 1))}
            >
              ×
            </button>
          </li>
        ))}
        {steps.length === 0 && <li class="muted">no plugins</li>}
      </ol>
      <div class="chips">
        {free.map((name) => (
          <button key={name} type="button" class="quiet small free" onClick={() => put([...steps, name])}>
            + {name}
          </button>
        ))}
      </div>
      <span class="unseen" role="status">
        {status}
      </span>
    </div>
  )
}
