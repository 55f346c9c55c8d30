import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { runCommand } from '../support/command-line.ts'

const run = promisify(execFile)
const scripts = Object.fromEntries(
  await Promise.all(
    ['bash', 'zsh', 'fish'].map(async (shell) => [shell, await runCommand(['completion', shell])] as const),
  ),
)

/** What bash offers behind these words; the last is the one that is being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const probe = `${scripts.bash?.stdout}
COMP_WORDS=(turnpike "$@"); COMP_CWORD=$#; _turnpike; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await run('bash', ['--norc', '-c', probe, 'bash', ...words])
  return stdout.split('\n').filter((line) => line !== '')
}

test('completion: in bash commands, those of plugins and those below others are offered', async (t) => {
  t.deepEqual(await offered('rep'), ['replay'])
  t.true((await offered('')).includes('cache'))
  t.deepEqual(await offered('plugin', ''), ['new', 'list', 'check', 'test', 'help'])
  t.deepEqual(await offered('patterns', 't'), ['test', 'try'])
})

test('completion: in bash a command’s own options are offered, and what they may be set to', async (t) => {
  t.deepEqual(await offered('tail', '--st'), ['--status'])
  t.deepEqual(await offered('tail', '--cache', ''), ['hit', 'attached', 'miss', 'none'])
  t.deepEqual(await offered('pipeline', 'explain', '--as', 'k'), ['key'])
  t.deepEqual(await offered('completion', 'z'), ['zsh'])
  t.deepEqual(await offered('start', '--cache'), [])
})

test('completion: in bash the modules of a pipeline are offered, also behind others', async (t) => {
  t.deepEqual(await offered('replay', 'req_1', '--pipeline', 'exact-cache,comp'), ['exact-cache,compress'])
  t.deepEqual(await offered('pipeline', 'explain', 'pr'), ['preserve', 'prune-tools'])
})

test('completion: in bash files are offered where a file is wanted', async (t) => {
  t.deepEqual(await offered('receipt', 'verify', 'tsconfig'), ['tsconfig.json'])
  t.deepEqual(await offered('tail', '--model', 'tsconfig'), [])
})

test('completion: the scripts of all shells know every command, and no other shell has one', async (t) => {
  const commands = await offered('')
  t.true(commands.length > 15)
  for (const shell of ['zsh', 'fish']) {
    t.is(scripts[shell]?.code, 0)
    for (const command of commands) t.true(scripts[shell]?.stdout.includes(command), `${shell}: ${command}`)
  }
  const { code, stderr } = await runCommand(['completion', 'tcsh'])
  t.is(code, 2)
  t.regex(stderr, /Allowed choices are bash, zsh, fish/)
})
