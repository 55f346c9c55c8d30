import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

const PACKAGE = '@anthropic-ai/claude-code@2.1.329'
const FOLDER = path.resolve('node_modules/.cache/coding-agent')

/** Command of Claude Code; `installClaudeCode` puts it there. */
export const CLAUDE_CODE = path.join(FOLDER, 'node_modules/.bin/claude')

/** Installs Claude Code, unless it is there. */
export function installClaudeCode(): void {
  if (existsSync(CLAUDE_CODE)) return
  console.log(`installing ${PACKAGE} into ${path.relative('.', FOLDER)}`)
  const { status } = spawnSync('npm', ['install', '--prefix', FOLDER, '--no-save', PACKAGE], { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${PACKAGE} cannot be installed here`)
}
