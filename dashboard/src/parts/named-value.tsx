import { type Named, type Names, nameIn } from '../../../src/core/ports/names.ts'
import { visible } from '../format.ts'

/** Name of a key, a person or a team, with its id as title; the id where no name is known. */
export function NamedValue({ of, id, names }: { of: Named; id: string; names: Names | undefined }) {
  const name = names && nameIn(names, of, id)
  return <span title={name ? id : undefined}>{visible(name ?? id)}</span>
}
