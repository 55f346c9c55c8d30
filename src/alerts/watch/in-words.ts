import { type Names, nameIn } from '../../core/ports/names.ts'

/** Names a key as its owner calls it, with its id and its owner. */
export function keyInWords(names: Names, { keyId, userId }: { keyId: string; userId: string | undefined }): string {
  const owner = userId === undefined ? '' : ` of ${personInWords(names, userId)}`
  return `Key ${inWords(nameIn(names, 'key', keyId), keyId)}${owner}`
}

/** Names a person, with the account's id. */
export function personInWords(names: Names, userId: string): string {
  return inWords(nameIn(names, 'person', userId), userId)
}

function inWords(name: string | null, id: string): string {
  return name === null || name === id ? id : `“${name}” (${id})`
}
