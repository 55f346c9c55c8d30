import { size, visible } from '../format.ts'
import type { RequestDetail } from '../request-detail.ts'
import { useSession } from '../session.tsx'
import { Diff } from './text.tsx'

/** Section of a request's edits, with the difference that each has made. */
export function Edits({ request, capture }: RequestDetail) {
  const { edits } = request.trace
  const { has } = useSession()
  if (edits.length === 0)
    return (
      <section aria-labelledby="edits">
        <h2 id="edits">Edits by plugins</h2>
        <p class="muted">None: the provider got the client’s request.</p>
      </section>
    )
  const before = (index: number) => (index === 0 ? capture?.canonical : capture?.versions[index - 1])?.text
  return (
    <section aria-labelledby="edits">
      <h2 id="edits">Edits by plugins</h2>
      {edits.map(({ module, paths, bytesBefore, bytesAfter }, index) => {
        const after = capture?.versions[index]?.text
        const from = before(index)
        return (
          <details key={index} open={index === 0 && after !== undefined}>
            <summary>
              <strong>{module}</strong> <span class="muted">{[...new Set(paths)].map(visible).join(', ')}</span>{' '}
              <span class={bytesAfter > bytesBefore ? 'muted' : 'gain'}>
                {size(bytesBefore)} → {size(bytesAfter)}
              </span>
            </summary>
            {from !== undefined && after !== undefined ? (
              <Diff before={from} after={after} label={`What ${module} changed`} />
            ) : (
              <p class="muted">
                {has.capture
                  ? 'Bodies of this request are not available: not kept, expired, or in a process that does not respond.'
                  : 'To see the texts, enable capture of bodies: `dashboard.capture`.'}
              </p>
            )}
          </details>
        )
      })}
    </section>
  )
}
