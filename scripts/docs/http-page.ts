import { openapiDocument } from '../../src/http/openapi/document.ts'
import { anchorOf, code, GENERATED, table } from './markdown.ts'

/** Part of the OpenAPI document that is rendered. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly example?: unknown
}

type Content = Readonly<Record<string, { schema: Schema }>>

interface Operation {
  readonly summary: string
  readonly security: readonly object[]
  readonly parameters?: readonly { name: string; in: string; description?: string }[]
  readonly requestBody?: { required: boolean; content: Content }
  readonly responses: Readonly<Record<string, { description: string; content?: Content }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { schemas: Readonly<Record<string, Schema>> }
}

/** Options of a gateway with every route; its document equals that of each gateway. */
const WITH_EVERYTHING = {
  version: '0',
  publicUrl: undefined,
  mode: 'cloud',
  amountCents: 50,
  isSandbox: true,
  hasSignIn: true,
} as const

const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: 'API key; in local mode any text',
  session: 'session token',
  payment: '`Payment`, see [agents](../agents.md)',
}

/** Bounds that every JSON number has are omitted. */
const NO_BOUND = Number.MAX_SAFE_INTEGER

const INTRODUCTION = `# HTTP API

Every public route, from the OpenAPI 3.1 document that each gateway serves at \`GET /openapi.json\`; there it lists the routes that this gateway has. Credentials go into \`Authorization: Bearer …\`; an API key may also stand in \`x-api-key\`. Bodies and replies are JSON, but where an event stream or text is named. Members that are not listed pass through: requests to models are open to what providers add.

Every reply has \`request-id\`; those of models also \`x-svc-pipe\`, \`x-svc-receipt\` and, from a cache, \`x-svc-cache\`; where plugins had nothing to do, \`x-svc-idle\` has each with its reason. Model requests may carry \`x-svc-tag\`, up to eight [tags](../costs.md#tags) separated by commas. Errors have one shape, and are listed in [errors](errors.md). Routes that plugins add are told with the plugin ([feedback](../../plugins/semantic-cache/README.md)), those of the dashboard [with it](../dashboard.md#behind-it).`

/** Renders the reference page of the HTTP API. */
export function httpPage(): string {
  const { paths, components } = openapiDocument(WITH_EVERYTHING) as unknown as Document // safe: only read, in this shape
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const overview = table(
    ['route', 'what it does', 'credential'],
    operations.map(({ method, path, operation }) => [
      `[\`${method} ${path}\`](#${anchorOf(`${method} ${path}`)})`,
      operation.summary,
      credentialOf(operation),
    ]),
  )
  const routes = operations.map(({ method, path, operation }) =>
    [`### ${method} ${path}`, operation.summary, describeOperation(operation)].join('\n\n'),
  )
  const schemas = Object.entries(components.schemas).map(([name, schema]) => describeSchema(name, schema))
  return `${[GENERATED, INTRODUCTION, overview, '## Routes', ...routes, '## Shapes', ...schemas].join('\n\n')}\n`
}

function credentialOf({ security }: Operation): string {
  const [scheme] = security
  return scheme === undefined ? 'none' : (CREDENTIALS[Object.keys(scheme)[0] ?? ''] ?? '')
}

function describeOperation(operation: Operation): string {
  const { parameters = [], requestBody, responses } = operation
  const inputs = parameters.map(({ name, in: where, description }) =>
    where === 'path' ? `- path: ${code(name)}` : `- query: ${code(name)}. ${description ?? ''}`,
  )
  const body = requestBody && [`- body${requestBody.required ? '' : ', optional'}: ${mediaOf(requestBody.content)}`]
  const replies = Object.entries(responses).map(
    ([status, { content }]) => `- ${status === 'default' ? 'else' : status}: ${content ? mediaOf(content) : 'no body'}`,
  )
  return [`- credential: ${credentialOf(operation)}`, ...inputs, ...(body ?? []), ...replies].join('\n')
}

function mediaOf(content: Content): string {
  return Object.entries(content)
    .map(([media, { schema }]) =>
      media === 'application/json' ? typeOf(schema) : `${code(media)}${schema.$ref ? ` ${typeOf(schema)}` : ''}`,
    )
    .join(' or ')
}

function describeSchema(name: string, schema: Schema): string {
  const { example } = schema
  const shown = example === undefined ? [] : [`\`\`\`json\n${JSON.stringify(example, undefined, 2)}\n\`\`\``]
  return [`### ${name}`, table(['member', 'type', 'always', 'meaning'], rowsOf(schema, '')), ...shown].join('\n\n')
}

/**
 * Returns a row for each member, and for those of nested objects, by their paths: `limits.costPerDay`, `keys[].kid`.
 */
function rowsOf({ properties = {}, required = [] }: Schema, path: string): string[][] {
  return Object.entries(properties).flatMap(([member, schema]) => {
    const row = [code(`${path}${member}`), typeOf(schema), required.includes(member) ? 'yes' : '', remarkOf(schema)]
    const inside = [schema, ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]
    const objects = inside.flatMap((each) => rowsOf(each, `${path}${member}.`))
    const items = inside.flatMap((each) => (each.items ? rowsOf(each.items, `${path}${member}[].`) : []))
    return [row, ...objects, ...items]
  })
}

function typeOf(schema: Schema): string {
  const { $ref, type, items, oneOf, anyOf, enum: values } = schema
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return `[${name}](#${anchorOf(name)})`
  }
  if ('const' in schema) return code(JSON.stringify(schema.const))
  if (values !== undefined) return values.map((value) => code(JSON.stringify(value))).join(' or ')
  const choices = oneOf ?? anyOf
  if (choices !== undefined) return choices.map(typeOf).join(' or ')
  if (items !== undefined) return Object.keys(items).length === 0 ? 'array' : `array of ${typeOf(items)}`
  return Array.isArray(type) ? type.join(' or ') : String(type ?? 'any')
}

function remarkOf(schema: Schema): string {
  // A nullable member has its bounds in its first alternative.
  const { description, default: usual, minimum, exclusiveMinimum, maximum } = { ...schema.anyOf?.[0], ...schema }
  const bounds = [boundOf('At least', minimum), boundOf('Above', exclusiveMinimum), boundOf('At most', maximum)]
  return [description, ...bounds, usual === undefined ? '' : `Default ${code(JSON.stringify(usual))}.`]
    .filter(Boolean)
    .join(' ')
}

function boundOf(words: string, bound: number | undefined): string {
  return bound === undefined || Math.abs(bound) >= NO_BOUND ? '' : `${words} ${bound}.`
}
