/** Line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'less' | 'more' | 'gap'
  readonly text: string
}

/** Most cells of the table; beyond it the middle is shown as removed and added. */
const MOST_CELLS = 4_000_000
const CONTEXT_LINES = 3

/** Compares two texts line by line; long equal stretches are left out, and counted. */
export function diffTexts(before: string, after: string): DiffLine[] {
  return shorten(diffLines(before.split('\n'), after.split('\n')))
}

/** Returns the shortest edit from one list of lines to the other. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++
  return [
    ...before.slice(0, start).map(same),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

const same = (text: string): DiffLine => ({ kind: 'same', text })
const less = (text: string): DiffLine => ({ kind: 'less', text })
const more = (text: string): DiffLine => ({ kind: 'more', text })

/** Compares by the longest common subsequence. */
function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1
  if ((before.length + 1) * width > MOST_CELLS) return [...before.map(less), ...after.map(more)]
  const lengths = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const at = i * width + j
      const [below, right] = [lengths[at + width] ?? 0, lengths[at + 1] ?? 0]
      lengths[at] = before[i] === after[j] ? (lengths[at + width + 1] ?? 0) + 1 : Math.max(below, right)
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old = '', fresh = ''] = [before[i], after[j]]
    if (i < before.length && j < after.length && old === fresh) {
      lines.push(same(old))
      i++
      j++
    } else if (j >= after.length || (i < before.length && isLess(lengths, i * width + j, width))) {
      lines.push(less(old))
      i++
    } else {
      lines.push(more(fresh))
      j++
    }
  }
  return lines
}

function isLess(lengths: Uint32Array, at: number, width: number): boolean {
  return (lengths[at + width] ?? 0) >= (lengths[at + 1] ?? 0)
}

function shorten(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = (index: number) => {
    const near = lines.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1)
    return near.some(({ kind }) => kind !== 'same')
  }
  const shown: DiffLine[] = []
  let left = 0
  const tellGap = () => {
    if (left > 0) shown.push({ kind: 'gap', text: `${left} unchanged ${left === 1 ? 'line' : 'lines'}` })
    left = 0
  }
  for (const [index, line] of lines.entries()) {
    if (line.kind === 'same' && !isNear(index)) left++
    else {
      tellGap()
      shown.push(line)
    }
  }
  tellGap()
  return shown
}
