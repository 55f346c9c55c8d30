import { z } from 'zod'
import { address, api, credentialOptions, fromEnv } from '../options.ts'
import { PRESETS, type Preset } from './presets.ts'

const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/

/** Schema of one service, with the preset's values as defaults. Options that a preset does not change are not described again. */
function serviceOptions({ keyVariable, urlVariable, ...preset }: Partial<Preset>) {
  const isPreset = preset.baseUrl !== undefined
  const baseUrl = preset.baseUrl === undefined ? address : address.default(preset.baseUrl)
  const { api_key, keys } = credentialOptions(keyVariable)
  const once = <Schema extends z.ZodType>(schema: Schema, isOwn: boolean): Schema =>
    isPreset && !isOwn ? schema.meta({ ...schema.meta(), repeated: true }) : schema
  return z.strictObject({
    base_url: fromEnv(baseUrl, urlVariable).describe('Address of the API, up to where `/chat/completions` begins.'),
    api: once(api, false),
    compacts: once(
      z
        .boolean()
        .default(true)
        .describe(
          'With `api: responses`: whether the service compacts conversations itself. Its model writes a summary where it does not, and where it refuses to.',
        ),
      false,
    ),
    api_key: once(api_key, keyVariable !== undefined),
    keys: once(keys, false),
    headers: once(
      z
        .record(z.string().min(1), z.string())
        .default({})
        .meta({ secret: true })
        .describe('Additional headers of every call, e.g. `HTTP-Referer`.'),
      false,
    ),
    reasoning_field: once(
      z
        .enum(['reasoning_content', 'reasoning', 'none'])
        .default(preset.reasoningField ?? 'none')
        .describe(
          'The member of an assistant’s message in which earlier reasoning is sent back; `none` where the service refuses it.',
        ),
      preset.reasoningField !== undefined,
    ),
    reasoning_effort: once(
      z
        .boolean()
        .default(preset.reasoningEffort ?? false)
        .describe('Whether the service accepts `reasoning_effort`; otherwise a request’s thinking is dropped.'),
      preset.reasoningEffort !== undefined,
    ),
    max_stop_sequences: once(
      z
        .int()
        .min(0)
        .default(preset.mostStopSequences ?? 4)
        .describe('Maximum number of stop sequences that the service accepts.'),
      preset.mostStopSequences !== undefined,
    ),
    stream_usage: once(
      z
        .boolean()
        .default(preset.streamUsage ?? true)
        .describe(
          'Whether streams request their usage by `stream_options.include_usage`. Turn it off where the service refuses that.',
        ),
      preset.streamUsage !== undefined,
    ),
  })
}

/** Schema of a service without a preset. */
const customService = serviceOptions({})

/** Options of one service. */
export type ServiceOptions = z.output<typeof customService>

/** Schema of the section: a preset by its name, or any other name with a `base_url`. */
export const compatibleOptions = z
  .object(
    Object.fromEntries(
      Object.entries(PRESETS).map(([name, preset]) => [
        name,
        serviceOptions(preset).optional().describe(`${preset.title}.`),
      ]),
    ),
  )
  .catchall(customService)
  .superRefine((section, context) => {
    for (const name of Object.keys(section)) {
      if (!NAME.test(name))
        context.addIssue({ code: 'custom', path: [name], message: 'expected a name of a-z, 0-9, `.`, `_` and `-`' })
    }
  })
  .prefault({})
