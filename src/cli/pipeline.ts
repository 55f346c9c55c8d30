import { type Command, Option } from 'commander'
import { type ExplainedStep, explainStep } from '../app/settings/explain-step.ts'
import { CAP_GUARD } from '../config/locked-guard.ts'
import { type PipelineSource, resolvePipeline, withLocked } from '../pipeline/resolve.ts'
import { addHelp } from './help.ts'
import { loadOffline } from './offline.ts'
import { table } from './terminal/table.ts'

/** Adds `turnpike pipeline explain`: shows the pipeline that a string runs. */
export function addPipelineCommand(program: Command): void {
  const pipeline = program.command('pipeline').description('Inspect pipelines.')
  const command = pipeline
    .command('explain')
    .description('Show the plugins of a pipeline string in order, with their effective options and the source of each.')
    .argument('[string]', 'a pipeline string (default: the pipeline of requests that name none)')
    .addOption(
      new Option('--as <source>', 'source of the string').choices(['header', 'key', 'default']).default('header'),
    )
    .option('--capped', 'as for a key, person, team or tag with a cap, whose requests run `cost-guard` in any case')
    .option('--json', 'print JSON')
    .action(explain)
  addHelp(command, {
    examples: [
      'turnpike pipeline explain',
      'turnpike pipeline explain "exact-cache?ttl=10m,cost-guard" --as key',
      'turnpike pipeline explain none --capped',
    ],
  })
}

/** Options of the command. */
interface ExplainOptions {
  readonly as: PipelineSource
  readonly capped?: boolean
  readonly json?: boolean
}

async function explain(text: string | undefined, { as, capped, json }: ExplainOptions): Promise<void> {
  const { config, registry, close } = await loadOffline()
  try {
    const source = text === undefined ? 'default' : as
    const rails = capped === true ? withLocked(config.pipeline, [CAP_GUARD]) : config.pipeline
    const resolved = resolvePipeline(text ?? rails.default, source, { registry, rails })
    const steps = resolved.steps.map((step) => explainStep(step, source, rails))
    process.stdout.write(
      json
        ? `${JSON.stringify({ pipeline: resolved.printed, steps }, undefined, 2)}\n`
        : render(resolved.printed, steps),
    )
  } finally {
    await close()
  }
}

function render(printed: string, steps: readonly ExplainedStep[]): string {
  const blocks = steps.map(({ name, summary, isLocked, onError, options }, index) => {
    const rows = options.map(({ name: option, value, setBy, callerMay }) => [
      option,
      JSON.stringify(value) ?? '–',
      setBy,
      callerMay,
    ])
    const head = `${index + 1}. ${name}${isLocked ? ' (locked)' : ''}: ${summary} On error: ${onError}.`
    return rows.length === 0
      ? head
      : [head, ...table([['option', 'value', 'set by', 'caller may change'], ...rows], '   ')].join('\n')
  })
  return `${printed}\n\n${[...blocks, `${steps.length + 1}. the provider`].join('\n\n')}\n`
}
