import type { RequestDocument } from '../core/request/request.ts'

/** Returns the names of the fields that differ between two requests in their bytes; `model` is always the target's. */
export function changedFields(before: RequestDocument, after: RequestDocument): string[] {
  const names = new Set([...before.shape.fields.keys(), ...after.shape.fields.keys()])
  names.delete('model')
  return [...names].filter((name) => {
    const [was, is] = [before.raw(name), after.raw(name)]
    return was === undefined || is === undefined || !was.equals(is)
  })
}
