import { useState } from 'preact/hooks'

/** Named address of a page. */
interface View {
  readonly name: string
  readonly hash: string
}

const PLACE = 'turnpike-views'
const MOST = 50

/** Views of a page that this browser keeps by name; the address itself can be shared. */
export function SavedViews({ page }: { page: string }) {
  const [views, setViews] = useState(stored)
  const [isNaming, setNaming] = useState(false)
  const [name, setName] = useState('')
  const own = views.filter(({ hash }) => pageOf(hash) === page)
  const current = own.find(({ hash }) => hash === location.hash)
  const keep = (next: readonly View[]) => {
    setViews(next)
    store(next)
  }
  const save = (event: Event) => {
    event.preventDefault()
    const title = name.trim()
    if (title === '') return
    const others = views.filter((view) => !(view.name === title && pageOf(view.hash) === page))
    keep([...others, { name: title, hash: location.hash }].slice(-MOST))
    setNaming(false)
    setName('')
  }
  return (
    <form class="saved-views" onSubmit={save}>
      {own.length > 0 && (
        <select
          aria-label="Saved views"
          value={current?.hash ?? ''}
          onChange={({ currentTarget }) => {
            location.hash = currentTarget.value
          }}
        >
          <option value="" disabled>
            Saved views …
          </option>
          {own.map((view) => (
            <option key={view.name} value={view.hash}>
              {view.name}
            </option>
          ))}
        </select>
      )}
      {current !== undefined && (
        <button type="button" class="quiet small" onClick={() => keep(views.filter((view) => view !== current))}>
          Forget “{current.name}”
        </button>
      )}
      {isNaming ? (
        <>
          <input
            aria-label="Name of this view"
            placeholder="Name of this view"
            required
            maxLength={60}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <button type="submit" class="small">
            Save
          </button>
        </>
      ) : (
        current === undefined && (
          <button type="button" class="quiet small" onClick={() => setNaming(true)}>
            Save view
          </button>
        )
      )}
    </form>
  )
}

function pageOf(hash: string): string {
  return hash.replace(/^#\/?/, '').split('?')[0] ?? ''
}

function stored(): readonly View[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(PLACE) ?? '[]')
    if (!Array.isArray(found)) return []
    return found.filter(
      (view): view is View =>
        typeof view?.name === 'string' && typeof view?.hash === 'string' && view.hash.startsWith('#/'),
    )
  } catch {
    return []
  }
}

/** A browser that keeps nothing has the views until the page is closed. */
function store(views: readonly View[]): void {
  try {
    localStorage.setItem(PLACE, JSON.stringify(views))
  } catch {}
}
