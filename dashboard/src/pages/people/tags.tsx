import { useState } from 'preact/hooks'
import { TextField } from '../../parts/fields.tsx'
import { Failure } from '../../parts/states.tsx'
import { useSession } from '../../session.tsx'
import { LimitFields, limitsOf } from './limit-fields.tsx'
import { NewForm, SubjectList } from './list.tsx'
import { Subject } from './subject.tsx'
import type { Limits, Tag } from './types.ts'
import { useChange } from './use-change.ts'

/** List of the tags that have limits. */
export function Tags() {
  const { isOperator } = useSession()
  return (
    <SubjectList<Tag>
      name="tags"
      hasSearch={false}
      {...(isOperator && {
        create: (reload) => (
          <NewForm title="Limit a tag">
            <ChangeTag onChanged={reload} />
          </NewForm>
        ),
      })}
      row={(tag, reload) => (
        <Subject
          key={tag.name}
          title={<strong>{tag.name}</strong>}
          filter={{ tag: tag.name }}
          {...tag}
          lastUsedAt={undefined}
        >
          {isOperator && <ChangeTag tag={tag} onChanged={reload} />}
        </Subject>
      )}
    />
  )
}

function ChangeTag({ tag, onChanged }: { tag?: Tag; onChanged: () => void }) {
  const [name, setName] = useState('')
  const [limits, setLimits] = useState<Limits>(tag?.limits ?? {})
  const { send, error, isBusy } = useChange(onChanged)
  const save = (event: Event) => {
    event.preventDefault()
    void send('PUT', `tags/${encodeURIComponent(tag?.name ?? name)}`, { limits: limitsOf(limits) })
  }
  return (
    <form onSubmit={save}>
      {tag === undefined && <TextField label="Tag" required value={name} maxLength={40} onText={setName} />}
      <LimitFields value={limits} onChange={setLimits} onlyMoney />
      {error && <Failure error={error} />}
      <button type="submit" class="primary" disabled={isBusy}>
        Save
      </button>
    </form>
  )
}
