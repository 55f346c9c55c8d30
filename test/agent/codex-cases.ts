import type { Said } from '../clients/matrix/said.ts'

/** A session of Codex, and its outcome. */
export interface CodexCase {
  readonly name: string
  /** The first one begins the session, each further one resumes it. */
  readonly prompts: readonly string[]
  /** Replies of the model, in order. */
  readonly turns: readonly Said[]
  /** Calls that the provider may get: no reply is paid twice. */
  readonly calls: number
  /** Files on disk at the end. Default: none. */
  readonly files?: Readonly<Record<string, string>>
  /** Texts that the last request to the provider has. */
  readonly heard?: readonly string[]
  /** Last event of the turn. Default: `turn.completed`. */
  readonly ends?: 'turn.completed' | 'turn.failed'
  /** Lines of Codex's configuration. */
  readonly settings?: string
  /** Pipeline string. */
  readonly pipe?: string
  /** The provider refuses the first call as overloaded. */
  readonly isOverloaded?: boolean
}

const MANY_TOKENS = { input: 9000, cached: 0, output: 20 }
const FEW_TOKENS = { input: 100, cached: 0, output: 20 }
const PATCH = `*** Begin Patch
*** Add File: patched.txt
+hello
*** End Patch
`

function runs(...commands: string[]): Said {
  const calls = commands.map((cmd) => ({ name: 'exec_command', input: { cmd } }))
  return { reasoning: 'Run it.', text: 'Running.', calls }
}

const DONE: Said = { reasoning: 'It ran.', text: 'All done.' }

export const CODEX_CASES: readonly CodexCase[] = [
  { name: 'text', prompts: ['Say it.'], turns: [DONE], calls: 1, heard: ['Say it.'] },
  {
    name: 'a shell command',
    prompts: ['Run it.'],
    turns: [runs('echo hi > out.txt && echo was-run'), DONE],
    calls: 2,
    files: { 'out.txt': 'hi\n' },
    heard: ['was-run'],
  },
  {
    name: 'a patch',
    prompts: ['Patch it.'],
    turns: [runs(`apply_patch <<'EOF'\n${PATCH}EOF`), DONE],
    calls: 2,
    files: { 'patched.txt': 'hello\n' },
  },
  {
    name: 'two commands at once',
    prompts: ['Run both.'],
    turns: [runs('echo 1 > one.txt; echo first', 'echo 2 > two.txt; echo second'), DONE],
    calls: 2,
    files: { 'one.txt': '1\n', 'two.txt': '2\n' },
    heard: ['first', 'second'],
  },
  {
    name: 'a resumed session',
    prompts: ['Begin.', 'Go on.'],
    turns: [runs('echo begun'), DONE, DONE],
    calls: 3,
    heard: ['Begin.', 'begun', 'Go on.'],
  },
  {
    name: 'two compactions',
    prompts: ['Do much.'],
    turns: [
      { ...runs('echo 1 >> log.txt'), usage: MANY_TOKENS },
      { text: 'Summary one.', usage: FEW_TOKENS },
      { ...runs('echo 2 >> log.txt'), usage: MANY_TOKENS },
      { text: 'Summary two.', usage: FEW_TOKENS },
      { ...DONE, usage: FEW_TOKENS },
    ],
    calls: 5,
    files: { 'log.txt': '1\n2\n' },
    heard: ['Summary two.'],
    settings: 'model_auto_compact_token_limit = 5000',
  },
  { name: 'an overloaded provider', prompts: ['Say it.'], turns: [DONE], calls: 2, isOverloaded: true },
  {
    name: 'a cap',
    prompts: ['Say it.'],
    turns: [DONE],
    calls: 0,
    ends: 'turn.failed',
    pipe: 'cost-guard?per_request=0.000001',
  },
  {
    name: 'a reply at its limit',
    prompts: ['Say it.'],
    turns: [{ text: 'Too much.', isCut: true }],
    calls: 1,
    ends: 'turn.failed',
  },
]
