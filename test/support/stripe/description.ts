import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { once } from '../once.ts'
import { dataFolder } from '../recordings.ts'
import type { Form, FormValue } from './form.ts'
import { Refusal } from './refusal.ts'

/*
 * Stripe's published description of its API, where the machine has it. It is older than the API version of the gateway's
 * package, so it lacks some requests: newer paths and parameters are listed here, and are left to the stand-in's own
 * checks.
 */
const FILE = path.join(dataFolder(), 'stripe/openapi.json')

/** Parameters newer than the description, by path. */
const NEWER: Readonly<Record<string, readonly string[]>> = {
  '/v1/checkout/sessions': ['saved_payment_method_options'],
  '/v1/prices': ['recurring.meter'],
  '/v1/webhook_endpoints': ['api_version'],
  '/v1/billing_portal/configurations': ['name', 'features.subscription_update.schedule_at_period_end'],
  '/v1/billing_portal/configurations/{configuration}': ['features.subscription_update.schedule_at_period_end'],
}

type Schema = { [name: string]: unknown }

interface Operation {
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> }
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Checks a request's parameters against the description. Throws `Refusal`. */
export type Check = (method: string, pathname: string, form: Form) => void

/** Loads the check, once for all stand-ins of a thread: it is large. `undefined` where the description is absent. */
export const loadDescription = once((): Check | undefined => {
  if (!existsSync(FILE)) return undefined
  const { paths } = JSON.parse(readFileSync(FILE, 'utf8')) as Description // safe: the description's own shape
  const ajv = new Ajv({ coerceTypes: true, strict: false, validateFormats: false, validateSchema: false })
  const validators = new Map<string, ValidateFunction | undefined>()
  const templates = Object.keys(paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    // The most literal of several that match.
    variables: template.split('{').length,
  }))
  templates.sort((a, b) => a.variables - b.variables)
  return (method, pathname, form) => {
    const template = templates.find(({ pattern }) => pattern.test(pathname))?.template
    const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()]
    if (template === undefined || operation === undefined) return
    const name = `${method} ${template}`
    if (!validators.has(name)) validators.set(name, ajv.compile(schemaOf(operation)))
    const known = structuredClone(form)
    for (const newer of NEWER[template] ?? []) drop(known, newer.split('.'))
    const validate = validators.get(name)
    if (validate === undefined || validate(known)) return
    const [fault] = validate.errors ?? []
    const param = fault?.instancePath.slice(1).replaceAll('/', '.') ?? ''
    throw new Refusal(400, `${name} ${param}: ${fault?.message} ${JSON.stringify(fault?.params)}`, { param })
  }
})

function schemaOf({ parameters = [], requestBody }: Operation): Schema {
  const body = requestBody?.content['application/x-www-form-urlencoded']?.schema
  const query = parameters.filter((parameter) => parameter.in === 'query')
  const ofQuery = {
    type: 'object',
    properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
    required: query.filter(({ required }) => required === true).map(({ name }) => name),
  }
  const properties = body?.properties as Schema | undefined
  return close(properties === undefined || query.length > 0 ? ofQuery : (body as Schema)) as Schema
}

/** Closes objects at any depth: Stripe refuses unknown parameters everywhere, the description only in the outermost. */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close)
  if (typeof schema !== 'object' || schema === null) return schema
  const closed = Object.fromEntries(Object.entries(schema).map(([name, inner]) => [name, close(inner)]))
  const isObject = 'properties' in closed && !('additionalProperties' in closed)
  return isObject ? { ...closed, additionalProperties: false } : closed
}

function drop(form: Form, [name = '', ...rest]: readonly string[]): void {
  const inner: FormValue | undefined = form[name]
  if (rest.length === 0) delete form[name]
  else if (typeof inner === 'object' && !Array.isArray(inner)) drop(inner, rest)
}
