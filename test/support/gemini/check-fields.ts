import { isJsonObject } from '../json.ts'
import type { Scalar, Shape } from './fields.ts'
import { type GeminiRejection, invalid } from './rejection.ts'

const BASE64 = /^[\w+/-]*={0,2}$/
const PACKAGE = 'type.googleapis.com/google.ai.generativelanguage.v1beta'

/** Finds the first field that is unknown or of the wrong kind, in the form of Google's JSON reader: paths in snake case. */
export function checkFields(value: unknown, shape: Shape, at = ''): GeminiRejection | undefined {
  if (value === null) return undefined // an absent field
  if (typeof shape === 'string') return checkScalar(value, shape, at)
  if ('list' in shape) return checkList(value, shape.list, at)
  if ('enum' in shape) {
    return shape.enum.includes(String(value)) ? undefined : wrongValue(value, `${PACKAGE}.${shape.name}`, at)
  }
  if (!isJsonObject(value)) return wrongValue(value, PACKAGE, at)
  for (const [name, inner] of Object.entries(value)) {
    const known = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (known === undefined) return unknownName(name, at)
    const refused = checkFields(inner, known, at === '' ? snake(name) : `${at}.${snake(name)}`)
    if (refused) return refused
  }
  return undefined
}

function checkList(value: unknown, shape: Shape, at: string): GeminiRejection | undefined {
  if (!Array.isArray(value)) return wrongValue(value, 'TYPE_MESSAGE', at)
  for (const [index, item] of value.entries()) {
    const refused = checkFields(item, shape, `${at}[${index}]`)
    if (refused) return refused
  }
  return undefined
}

function checkScalar(value: unknown, shape: Scalar, at: string): GeminiRejection | undefined {
  switch (shape) {
    case 'any':
      return undefined
    case 'struct':
      return isJsonObject(value) ? undefined : wrongValue(value, 'google.protobuf.Struct', at)
    case 'integer':
      return Number.isInteger(value) ? undefined : wrongValue(value, 'TYPE_INT32', at)
    case 'bytes':
      if (typeof value === 'string' && BASE64.test(value)) return undefined
      return wrongValue(value, 'TYPE_BYTES', at)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === shape ? undefined : wrongValue(value, `TYPE_${shape.toUpperCase()}`, at)
    default:
      return shape satisfies never
  }
}

function unknownName(name: string, at: string): GeminiRejection {
  const place = at === '' ? '' : ` at '${at}'`
  return invalid(`Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`)
}

function wrongValue(value: unknown, type: string, at: string): GeminiRejection {
  return invalid(`Invalid value at '${at}' (${type}), ${JSON.stringify(value)?.slice(0, 80)}`)
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
