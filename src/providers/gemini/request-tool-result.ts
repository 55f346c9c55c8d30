import { elementsOf, isString, type Members, membersOf } from '../../core/json/raw-json.ts'
import { dropOthers, given, printGiven, type Translation, textOf } from './raw-fields.ts'
import { type Part, type Place, printPart, toParts, toTexts } from './request-parts.ts'

/** A tool's result in Gemini's shape. */
export interface ToolResult {
  readonly response: Part
  /** Media that cannot be inside the response; they follow the responses of the turn. */
  readonly others: readonly Part[]
}

const KNOWN = new Set(['type', 'tool_use_id', 'content', 'is_error'])

/**
 * Converts a `tool_result` to a `functionResponse`; `undefined` when it is refused. `names`: raw names of the tools by the
 * ids of the calls so far. The result's text is unchanged; several texts become a list, since joining would change them.
 * Models of generation 3 take media inside the response (Gemini API, "Function calling", multimodal responses).
 */
export function toToolResult(
  block: Members,
  { path, field }: Place,
  { names, ...translation }: Translation & { names: ReadonlyMap<string, string> },
): ToolResult | undefined {
  const { droppedFields, traits } = translation
  dropOthers(block, KNOWN, { droppedFields, prefix: `${field}.` })
  const id = block.get('tool_use_id')
  const name = names.get(textOf(id) ?? '')
  if (name === undefined) {
    droppedFields.refuse(
      `${path}.tool_use_id`,
      'Gemini requires the name of the tool, and no earlier tool_use has this id',
    )
    return undefined
  }
  const parts = partsOf(given(block, 'content'), { path: `${path}.content`, field: `${field}.content` }, translation)
  const media = parts.filter(({ kind }) => kind !== 'text')
  const inside = traits.hasThinkingLevels ? media.filter(({ kind }) => kind === 'inlineData') : []
  const response = printGiven({
    id,
    name,
    response: printGiven({ [block.get('is_error') === 'true' ? 'error' : 'result']: textsOf(parts) }),
    parts: inside.length === 0 ? undefined : `[${inside.map(printPart).join(',')}]`,
  })
  return { response: { kind: 'response', response }, others: media.filter((part) => !inside.includes(part)) }
}

function partsOf(content: string | undefined, { path, field }: Place, translation: Translation): Part[] {
  if (content === undefined || isString(content)) return toTexts(content)
  return elementsOf(content).flatMap((block, index) =>
    toParts(membersOf(block), { path: `${path}[${index}]`, field }, translation),
  )
}

function textsOf(parts: readonly Part[]): string {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  return texts.length > 1 ? `[${texts.join(',')}]` : (texts[0] ?? '""')
}
