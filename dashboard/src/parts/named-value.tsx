import { type Named, type Names, nameIn } from '../../../src/core/ports/names.ts'
import { NOTHING, visible } from '../format.ts'

/** Name of a key, a person or a team, with its id as title; the id where no name is known. */
export function NamedValue({ of, id, names }: { of: Named; id: string; names: Names | undefined }) {
  const name = names && nameIn(names, of, id)
  return <span title={name ? id : undefined}>{visible(name ?? id)}</span>
}

interface NamedKeyProps {
  readonly keyId: string | null
  readonly userId: string | null
  readonly names: Names | undefined
}

/** Name of a key with its person, and the ids of both as title. */
export function NamedKey({ keyId, userId, names }: NamedKeyProps) {
  if (keyId === null) return <>{NOTHING}</>
  return <span title={idsOf({ keyId, userId })}>{visible(keyTitle({ keyId, userId, names }))}</span>
}

/** Prints a key as `build · Grace H.`; ids where no names are known. */
export function keyTitle({ keyId, userId, names }: NamedKeyProps): string {
  const key = (names && nameIn(names, 'key', keyId)) ?? keyId ?? ''
  const person = (names && nameIn(names, 'person', userId)) ?? userId
  return person === null ? key : `${key} · ${person}`
}

function idsOf({ keyId, userId }: Omit<NamedKeyProps, 'names'>): string {
  return userId === null ? (keyId ?? '') : `${keyId} of ${userId}`
}
