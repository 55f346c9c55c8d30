import { z } from 'zod'
import { fromEnv } from '../providers/options.ts'

const SHORTEST_SECRET_BYTES = 32

/** Changes of the configuration in the dashboard. */
export const settings = z.strictObject({
  editable: fromEnv(z.stringbool().or(z.boolean()).default(true), 'SVC_SETTINGS_EDITABLE').describe(
    'Operators may change caps, model names and the pipeline in the dashboard, and store keys of providers there. An option that the file or the environment sets keeps that value. `false`: the file and the environment alone are in force, stored changes and keys are ignored, and the dashboard prints a change as YAML instead.',
  ),
  secrets_key: fromEnv(
    z
      .string()
      .refine((text) => Buffer.byteLength(text) >= SHORTEST_SECRET_BYTES, {
        error: `expected at least ${SHORTEST_SECRET_BYTES} bytes, as \`openssl rand -base64 48\` makes them`,
      })
      .optional(),
    'SVC_SECRETS_KEY',
    { secret: true },
  ).describe(
    'Secret that encrypts the providers’ keys stored in the database, at least 32 bytes, equal on all instances. Unset: the file `secrets-key` in `data_dir`, created at the first stored key; with a shared `database_url`, set it instead. Without the secret, stored keys must be entered again.',
  ),
})
