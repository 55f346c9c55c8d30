import type { Refused, Said } from '../clients/matrix/said.ts'
import type { ProviderName } from '../support/provider-fixture.ts'

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
  /** Last event of the first turn; those after it are completed. Default: `turn.completed`. */
  readonly ends?: 'turn.completed' | 'turn.failed'
  /** Text that the user sees in the first turn. */
  readonly shows?: string
  /** The user aborts the first turn as soon as the provider is called. */
  readonly isAborted?: boolean
  /** Text in the session that Codex keeps. */
  readonly keeps?: string
  /** The gateway compacts conversations, not Codex itself. */
  readonly compactsRemotely?: boolean
  /** Kinds of providers. Default: all. */
  readonly only?: readonly ProviderName[]
  /** Lines of Codex's configuration. */
  readonly settings?: string
  /** Pipeline string. */
  readonly pipe?: string
  /** Sends its requests over a WebSocket. */
  readonly isOverSocket?: boolean
  /** The provider refuses the first call as overloaded. */
  readonly isOverloaded?: boolean
  /** The provider's refusal of the first call. */
  readonly refusal?: Refused
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

const SUMMARISERS = ['anthropic', 'openai', 'gemini', 'house'] as const
const COMPACTING = 'model_auto_compact_token_limit = 5000'

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
    name: 'a shell command over a WebSocket',
    prompts: ['Run it.'],
    turns: [runs('echo hi > out.txt && echo was-run'), DONE],
    calls: 2,
    files: { 'out.txt': 'hi\n' },
    heard: ['Run it.', 'was-run'],
    isOverSocket: true,
  },
  {
    name: 'a patch',
    prompts: ['Patch it.'],
    turns: [runs(`apply_patch <<'EOF'\n${PATCH}EOF`), DONE],
    calls: 2,
    files: { 'patched.txt': 'hello\n' },
  },
  {
    name: 'a patch by its own tool',
    prompts: ['Patch it.'],
    turns: [{ reasoning: 'Patch.', calls: [{ name: 'apply_patch', input: { input: PATCH } }] }, DONE],
    calls: 2,
    files: { 'patched.txt': 'hello\n' },
    only: ['anthropic'],
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
  {
    name: 'two compactions by the gateway',
    prompts: ['Do much.'],
    turns: [
      { ...runs('echo 1 >> log.txt'), usage: MANY_TOKENS },
      { text: 'Summary one.', usage: FEW_TOKENS },
      { ...runs('echo 2 >> log.txt'), usage: MANY_TOKENS },
      { text: 'Summary two.', usage: FEW_TOKENS },
      { ...DONE, usage: FEW_TOKENS },
      { ...DONE, usage: FEW_TOKENS },
    ],
    calls: 5,
    files: { 'log.txt': '1\n2\n' },
    heard: ['Do much.', 'Summary two.'],
    settings: COMPACTING,
    compactsRemotely: true,
    only: SUMMARISERS,
  },
  {
    name: 'a session resumed after a compaction by the gateway',
    prompts: ['Do it.', 'Go on.'],
    turns: [
      { ...runs('echo 1 >> log.txt'), usage: MANY_TOKENS },
      { text: 'Summary one.', usage: FEW_TOKENS },
      { ...DONE, usage: FEW_TOKENS },
      { ...DONE, usage: FEW_TOKENS },
    ],
    calls: 4,
    files: { 'log.txt': '1\n' },
    heard: ['Summary one.', 'Go on.'],
    settings: COMPACTING,
    compactsRemotely: true,
    only: SUMMARISERS,
  },
  {
    name: 'two compactions by the provider',
    prompts: ['Do much.'],
    turns: [
      { ...runs('echo 1 >> log.txt'), usage: MANY_TOKENS },
      { text: '', usage: FEW_TOKENS },
      { ...runs('echo 2 >> log.txt'), usage: MANY_TOKENS },
      { text: '', usage: FEW_TOKENS },
      { ...DONE, usage: FEW_TOKENS },
    ],
    calls: 5,
    files: { 'log.txt': '1\n2\n' },
    settings: COMPACTING,
    compactsRemotely: true,
    only: ['responder'],
  },
  {
    name: 'a summary that is cut',
    prompts: ['Do much.'],
    turns: [
      { ...runs('echo 1 >> log.txt'), usage: MANY_TOKENS },
      { text: 'Half a', usage: FEW_TOKENS, isCut: true },
    ],
    calls: 2,
    files: { 'log.txt': '1\n' },
    ends: 'turn.failed',
    settings: COMPACTING,
    compactsRemotely: true,
    only: SUMMARISERS,
  },
  {
    name: 'a conversation beyond the window, compacted in the next turn',
    prompts: ['Begin.', 'Go on.'],
    turns: [{ text: 'Summary.', usage: FEW_TOKENS }, DONE],
    refusal: { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    calls: 3,
    ends: 'turn.failed',
    shows: 'ran out of room',
    heard: ['Summary.', 'Go on.'],
    only: SUMMARISERS,
  },
  {
    name: 'an aborted turn',
    prompts: ['Begin.', 'Go on.'],
    turns: [{ text: 'A text that never ends. '.repeat(200), isStuck: true }, DONE],
    calls: 2,
    isAborted: true,
    heard: ['Begin.', 'Go on.'],
  },
  {
    name: 'the limits of a cap',
    prompts: ['Say it.'],
    turns: [DONE],
    calls: 1,
    pipe: 'cost-guard?per_day=1000',
    keeps: '"window_minutes":1440',
  },
  { name: 'an overloaded provider', prompts: ['Say it.'], turns: [DONE], calls: 2, isOverloaded: true },
  {
    name: 'a cap',
    prompts: ['Say it.'],
    turns: [DONE],
    calls: 0,
    ends: 'turn.failed',
    shows: 'hit your usage limit. Compact the conversation, raise the cap',
    pipe: 'cost-guard?per_request=0.000001',
  },
  {
    name: 'a cap of the day',
    prompts: ['Say it.'],
    turns: [DONE],
    calls: 0,
    ends: 'turn.failed',
    shows: 'a day, or try again at',
    pipe: 'cost-guard?per_day=0.000001',
  },
  {
    name: 'a reply at its limit',
    prompts: ['Say it.'],
    turns: [{ text: 'Too much.', isCut: true }],
    calls: 1,
    ends: 'turn.failed',
  },
]
