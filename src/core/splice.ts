export type Edit =
  | { op: 'replace' | 'add'; path: readonly (string | number)[]; value: unknown }
  | { op: 'remove'; path: readonly (string | number)[] }
export function applyEdits(bytes: Buffer, edits: Edit[]): Buffer {
  const value = JSON.parse(bytes.toString())
  for (const edit of edits)
    if (edit.op !== 'remove') {
      let node = value
      for (const key of edit.path.slice(0, -1)) node = node[key]
      node[edit.path.at(-1) ?? ''] = edit.value
    }
  return Buffer.from(JSON.stringify(value))
}
