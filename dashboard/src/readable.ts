const STEP = '  '

/** Prints JSON readably: a line for each member, and multi-line texts as such. Other text is unchanged. */
export function readable(text: string): string {
  try {
    return print(JSON.parse(text), '')
  } catch {
    return text
  }
}

function print(value: unknown, indent: string): string {
  if (typeof value === 'string') return printText(value, indent)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = indent + STEP
  if (Array.isArray(value)) return bracketed('[]', { indent, items: value.map((item) => print(item, inner)) })
  const items = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${print(member, inner)}`)
  return bracketed('{}', { indent, items })
}

function bracketed(brackets: string, { indent, items }: { indent: string; items: readonly string[] }): string {
  if (items.length === 0) return brackets
  const lines = items.map((item) => indent + STEP + item)
  return `${brackets.charAt(0)}\n${lines.join(',\n')}\n${indent}${brackets.charAt(1)}`
}

function printText(text: string, indent: string): string {
  if (!text.includes('\n')) return JSON.stringify(text)
  const lines = text.split('\n').map((line) => `${indent}${STEP}│ ${line}`)
  return `\n${lines.join('\n')}`
}
