import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { errorCodeOf, messageOf } from '../core/errors.ts'
import { sealingKeyOf } from '../core/sealing.ts'
import { createOwnerFile } from '../core/system/owner-file.ts'
import { ConfigError } from './config-error.ts'
import type { Config } from './schema.ts'

const KEY_BYTES = 32
const SHORTEST_TEXT = 32

/** Returns the key that encrypts secrets in the database; `undefined` while there is none. Throws `ConfigError` for an invalid file. */
export function readSecretsKey(config: Pick<Config, 'data_dir' | 'settings'>): Buffer | undefined {
  const secret = config.settings.secrets_key ?? readFile(fileIn(config.data_dir))
  return secret === undefined ? undefined : sealingKeyOf(secret)
}

/** Returns the same key, and creates its file if there is none. Throws `ConfigError`. */
export function openSecretsKey(config: Pick<Config, 'data_dir' | 'settings'>): Buffer {
  const known = readSecretsKey(config)
  if (known !== undefined) return known
  const file = fileIn(config.data_dir)
  try {
    createOwnerFile(file, `${randomBytes(KEY_BYTES).toString('base64url')}\n`)
  } catch (cause) {
    throw new ConfigError(`\`${file}\` cannot be created: ${messageOf(cause)}.`, { cause })
  }
  const key = readSecretsKey(config)
  if (key === undefined) throw new ConfigError(`\`${file}\` was removed while it was created.`)
  return key
}

function fileIn(dataDir: string): string {
  return path.join(path.resolve(dataDir), 'secrets-key')
}

function readFile(file: string): string | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (cause) {
    if (errorCodeOf(cause) === 'ENOENT') return undefined
    throw new ConfigError(`\`${file}\` cannot be read: ${messageOf(cause)}.`, { cause })
  }
  if (text.length >= SHORTEST_TEXT) return text
  throw new ConfigError(`\`${file}\` is too short for the key of stored secrets. Restore it, or set SVC_SECRETS_KEY.`)
}
