/** A parameter of a form: text, or lists and objects made of brackets. */
export type FormValue = string | FormValue[] | { [name: string]: FormValue }

/** Parameters of a request, by name. */
export type Form = { [name: string]: FormValue }

/** Parses Stripe's form encoding: `line_items[0][price]=p` is `{ line_items: [{ price: 'p' }] }`. */
export function parseForm(text: string): Form {
  const form: Form = {}
  for (const [name, value] of new URLSearchParams(text)) put(form, pathOf(name), value)
  // Safe: the root has a name for every member.
  return toLists(form) as Form
}

function pathOf(name: string): string[] {
  const [head = '', ...rest] = name.split('[')
  return [head, ...rest.map((part) => part.replace(/\]$/, ''))]
}

function put(form: Form, [name = '', ...rest]: string[], value: string): void {
  const key = name === '' ? String(Object.keys(form).length) : name
  if (rest.length === 0) {
    form[key] = value
    return
  }
  const inner = form[key] ?? {}
  form[key] = inner
  put(inner as Form, rest, value) // safe: lists are made at the end, and Stripe’s forms never have a name twice
}

/** Converts objects whose names are 0, 1, 2, … to lists. */
function toLists(value: FormValue): FormValue {
  if (typeof value !== 'object' || Array.isArray(value)) return value
  const names = Object.keys(value)
  const isList = names.length > 0 && names.every((name, index) => name === String(index))
  if (isList) return Object.values(value).map(toLists)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toLists(inner)]))
}
